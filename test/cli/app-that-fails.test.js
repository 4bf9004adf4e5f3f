'use strict'

const net = require('node:net')
const path = require('node:path')
const { once } = require('node:events')
const t = require('tap')
const { call } = require('../support/calls')
const { BIN, FIXTURES, freePort } = require('../support/fleet')
const { longAlone } = require('../support/campaign')
const { runToEnd } = require('../support/processes')

/** @param {string[]} args @param {Record<string, string>} [env] */
const recycle = (args, env) => runToEnd([process.execPath, BIN, '--log', 'pretty', '-w', '1', ...args], { env })
/** As recycle(), of an app that is refused. @param {string[]} args */
const refused = args => call(['--log', 'json', '-w', '1', ...args])

t.test('a missing app gives one sentence and exit code 2', async t => {
  const { code, stderr } = await recycle(['no-such-app.js'])
  t.equal(code, 2)
  t.equal(stderr, 'recycle: the app no-such-app.js cannot be started: there is no such file\n')
})

t.test('for a word that is not a file, the message also names commands', async t => {
  const { code, stderr } = await refused(['relaod'])
  t.equal(code, 2)
  t.equal(stderr, 'recycle: the app relaod cannot be started: there is no such file, and no such command; did you mean recycle reload?\n')
  t.match((await refused(['zzzzzz'])).stderr, /no such command; see recycle --help\n$/)
})

t.test('an empty app name is refused', async t => {
  const { code, stderr } = await refused([''])
  t.equal(code, 2)
  t.equal(stderr, 'recycle: the app "" cannot be started: it has no name\n')
})

t.test('a folder gives one sentence and exit code 2', async t => {
  const dir = t.testdir({ 'server.js': '' })
  const { code, stderr } = await refused([dir])
  t.equal(code, 2)
  t.match(stderr, /^recycle: the app [^\n]+ cannot be started: it is a folder[^\n]*\n$/)
})

t.test('an unreadable file gives one sentence and exit code 2', { skip: process.getuid?.() === 0 && 'root may read everything' }, async t => {
  const dir = t.testdir({ 'app.js': '' })
  require('node:fs').chmodSync(path.join(dir, 'app.js'), 0)
  const { code, stderr } = await refused([path.join(dir, 'app.js')])
  t.equal(code, 2)
  t.match(stderr, /^recycle: the app [^\n]+ cannot be started: [^\n]*EACCES[^\n]*\n$/)
})

t.test('a dangling link gives one sentence and exit code 2', async t => {
  const dir = t.testdir({ 'app.js': t.fixture('symlink', 'gone.js') })
  const { code, stderr } = await refused([path.join(dir, 'app.js')])
  t.equal(code, 2)
  t.match(stderr, /^recycle: the app [^\n]+ cannot be started: [^\n]+\n$/)
})

/** Those that end by the same error as another are run by test:long. */
const files = {
  'throws while starting': ["throw new Error('no database')", 'no database', '3'],
  'has a syntax error': ['const = 3', 'SyntaxError'],
  'requires a package that is not installed': ["require('not-installed')", "Cannot find module 'not-installed'", '1', longAlone('1')],
  'exits 0 at once without listening': ['process.exit(0)', 'exited with code 0: the file ran to its end, and keeps nothing open, or it called process.exit()'],
  'ends without listening': ['', 'exited with code 0'],
  'rejects while starting': ["Promise.reject(new Error('no cache'))", 'no cache', '1', longAlone('1')],
  'kills itself': ["process.kill(process.pid, 'SIGKILL')", 'killed by SIGKILL']
}

for (const [what, [source, error, workers = '1', skip = false]] of Object.entries(files)) {
  t.test(`an app that ${what}: its own error is shown and the run ends with exit code 1 after few deaths`, { skip }, async t => {
    const dir = t.testdir({ 'app.js': source })
    const { code, stderr } = await recycle(['-w', workers, path.join(dir, 'app.js')])
    t.equal(code, 1)
    t.match(stderr, error)
    const traces = stderr.split('\n').filter(line => /^\w*Error: /.test(line))
    t.ok(traces.length <= 1, 'though several workers have thrown the same, it is printed once')
    t.match(stderr.trimEnd().split('\n').at(-1), /^recycle: no worker becomes ready: [2-5] died or gave up in a row, the last one (exited with code 1: \w*Error: |exited with code 0: the file ran to its end|was killed by SIGKILL)/)
    t.equal([...stderr.matchAll(/^[\d:]+ no worker becomes ready: /gm)].length, 1)
    t.ok([...stderr.matchAll(/^[\d:]+ crashed slot /gm)].length <= 7, 'no workers are spawned beyond those already starting')
  })
}

t.test('an app whose top-level await never settles: the sentence says so, as Node.js prints nothing in a worker', async t => {
  const dir = t.testdir({ 'app.mjs': 'await new Promise(() => {})' })
  const { code, stderr } = await recycle(['-w', '1', path.join(dir, 'app.mjs')])
  t.equal(code, 1)
  t.match(stderr.trimEnd().split('\n').at(-1), 'exited with code 13: an await at its top level does not settle')
})

t.test('a port in use: the app says so, and the run ends with exit code 1', async t => {
  const port = await freePort()
  const other = net.createServer().listen(port)
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { code, stderr } = await recycle([path.join(FIXTURES, 'plain.js')], { PORT: String(port) })
  t.equal(code, 1)
  t.match(stderr, 'EADDRINUSE')
  t.match(stderr, /^recycle: no worker becomes ready: /m)
})

t.test('--admin on the port of the app: the sentence says so', async t => {
  const port = String(await freePort())
  const { code, stderr } = await recycle(['--admin', port, path.join(FIXTURES, 'plain.js')], { PORT: port })
  t.equal(code, 1)
  t.match(stderr.trimEnd().split('\n').at(-1), `port ${port} is in use by a socket on that port which recycle has at another address: --admin is to have a port of its own`)
})

t.test('an app that never listens ends the run after the ready timeout, with exit code 1', async t => {
  const dir = t.testdir({ 'app.js': 'setInterval(() => {}, 1000)' })
  const { code, stderr } = await recycle(['--log', 'json', '--ready-timeout', '300ms', path.join(dir, 'app.js')])
  t.equal(code, 1)
  const lines = stderr.trimEnd().split('\n').map(line => JSON.parse(line))
  t.match(lines.filter(({ level }) => level === 50), [{ event: 'fleet.failed', msg: /^no worker becomes ready: / }])
})
