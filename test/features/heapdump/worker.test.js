'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')

const WORKER = require.resolve('../../../lib/features/heapdump/worker')

/** In a process of its own, whose heap is small. @param {string} file */
function dump (file) {
  return JSON.parse(execFileSync(process.execPath, ['-p', `JSON.stringify(require(${JSON.stringify(WORKER)}).part().tasks.heapdump({ file: ${JSON.stringify(file)} }))`], { encoding: 'utf8', stdio: 'pipe', env: {} }))
}

t.test('a heap snapshot is written into the file that is there', async t => {
  const file = path.join(t.testdir({ it: '' }), 'it')
  const { bytes, pauseMs } = dump(file)
  t.ok(pauseMs > 0)
  t.equal(fs.statSync(file).size, bytes)
  t.match(fs.readFileSync(file, 'utf8').slice(0, 20), '{"snapshot":')
  t.throws(() => dump('/nowhere/at/all'))
})
