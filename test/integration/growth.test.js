'use strict'

/** `npm run growth` looks for longer, at every fleet and at other deeds. */

const path = require('node:path')
const t = require('tap')
const { skip } = require('../support/mold')
const { runToEnd } = require('../support/processes')

const GROWTH = path.join(__dirname, '..', 'growth.js')

t.test('the primary keeps nothing of forked workers that were replaced', { skip }, async t => {
  const { code, stdout, stderr } = await runToEnd([process.execPath, GROWTH, '20', 'forked', 'alone', 'recycle'], { timeoutMs: 90_000 })
  t.equal(code, 0, `${stdout}${stderr}`)
  t.match(stdout, /"process":"primary","liveBytes":-?\d+/)
})
