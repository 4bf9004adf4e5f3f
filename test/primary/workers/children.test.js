'use strict'

const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')
const t = require('tap')

const PROGRAM = path.join(__dirname, '..', '..', 'fixtures', 'ends-children.js')
const COUNT = 100

t.test('among more processes than there are descriptors all children are found, and descriptors are left meanwhile', { skip: process.platform !== 'linux' }, async t => {
  const script = 'ulimit -n 72; exec "$@"'
  const { stdout } = await promisify(execFile)('sh', ['-c', script, 'sh', process.execPath, PROGRAM, String(COUNT)])
  const { refused, lines } = JSON.parse(stdout)
  t.match(lines, [{ event: 'worker.children', slot: 0, ended: COUNT, killed: 0, commands: ['sleep 100'] }])
  t.equal(refused, 0)
})
