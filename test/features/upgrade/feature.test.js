'use strict'

const { execFileSync } = require('node:child_process')
const path = require('node:path')
const t = require('tap')

const ROOM = path.join(__dirname, '..', '..', '..', 'lib', 'features', 'upgrade')

t.test('what an upgrade needs is loaded with its part of the primary: later the files on disk may be another version\'s', async t => {
  const program = `require(${JSON.stringify(path.join(ROOM, 'feature'))}).primary(); console.log(JSON.stringify(Object.keys(require.cache)))`
  const loaded = JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }))
  t.same(loaded.includes(path.join(ROOM, 'verb.js')), true)
})
