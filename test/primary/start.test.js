'use strict'

const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')
const t = require('tap')

const ROOT = path.join(__dirname, '..', '..')
const PROGRAM = `
const threads = () => require('node:fs').readdirSync('/proc/self/task').length
const { resolveOptions, assemble } = { ...require('./lib/tables/resolved-options'), ...require('./lib/primary/start') }
const options = resolveOptions({ log: 'silent', control: 'none' }, require('./lib/primary/measuring/container').machineFacts())
const before = threads()
assemble('test/fixtures/plain.js', [], options)
console.log(threads() - before)
process.exit()
`

t.test('the threads of the primary\'s pool start before any worker can take the room for them', { skip: process.platform !== 'linux' }, async t => {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', PROGRAM], { cwd: ROOT, env: { ...process.env, UV_THREADPOOL_SIZE: '3' } })
  t.equal(stdout, '3\n')
})
