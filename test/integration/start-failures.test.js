'use strict'

/** A fleet that does not start says why in its last sentence, and ends no later than it must. */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
const { startCli, freePort, Events } = require('../support/fleet')
const { howItDied } = require('../../lib/primary/workers/boot')
const { supervise } = require('../..')

const LISTEN = 'require("node:http").createServer((request, response) => response.end("ok")).listen('
const SOON = { readyTimeout: '4s' }
const noProc = !fs.existsSync('/proc/self/net/tcp') && 'there is no /proc'

/** @param {any} t tap's @param {string} source @param {{ args?: string[], env?: Record<string, string> }} [how] */
async function fail (t, source, { args = [], env = {} } = {}) {
  const folder = t.testdir({ 'app.js': source, 'server.js': `${LISTEN}process.env.PORT)` })
  const { events, said, exited } = await startCli(t, ['-w', '1', '--control', 'none', '--ready-timeout', '10s', ...args, path.join(folder, 'app.js')], { env, cwd: folder })
  const { code } = await exited
  t.equal(code, 1)
  return { last: events.all('fleet.failed')[0]?.error, said, crashes: events.all('worker.crash').length, spawned: events.all('worker.spawn').length }
}

/**
 * The same by the library, in this process: its error has the command line's last sentence.
 *
 * @param {any} t tap's @param {string} source @param {Record<string, any>} [options]
 */
async function reject (t, source, options) {
  const supervisor = supervise({ app: path.join(t.testdir({ 'app.js': source }), 'app.js'), workers: 1, readyTimeout: '10s', ...options })
  const events = new Events()
  supervisor.on('event', line => events.push(line))
  const error = await supervisor.ready().then(() => null, error => error)
  await supervisor.stop({ now: true })
  return { last: error?.message, spawned: events.all('worker.spawn').length }
}

process.env.PORT = '0'
t.jobs = 4

t.test('the port is in use: the address, and the process that has it', { skip: noProc }, async t => {
  const port = await freePort()
  const other = net.createServer().listen(port)
  const { last, said, crashes } = await fail(t, `${LISTEN}process.env.PORT)`, { env: { PORT: String(port) } })
  other.close()
  t.match(last, `exited with code 1: port ${port} is in use by pid ${process.pid} (node `)
  const stack = said.join('\n').slice(said.join('\n').indexOf('Error: listen'))
  t.match(stack, `Error: listen EADDRINUSE: address already in use :::${port}\n    at Server.setupListenHandle`)
  t.notMatch(stack, path.join(__dirname, '..', '..', 'lib'), "the stack is the app's, without recycle's frames")
  t.ok(crashes <= 4, `${crashes} workers died: the same error twice is enough`)
})

t.test('the app throws: its error is in the last sentence, and the same one twice is enough', async t => {
  const { last, spawned } = await reject(t, 'throw new TypeError("no database\\nsecond line")')
  t.match(last, /^no worker becomes ready: \d died or gave up in a row, the last one exited with code 1: TypeError: no database$/)
  t.ok(spawned <= 4, `${spawned} workers`)
  t.match((await reject(t, 'const x = ;')).last, /: SyntaxError: Unexpected token ';' \(.*app\.js:1\)$/)
  t.match((await reject(t, 'Promise.reject(new RangeError("late"))')).last, /: RangeError: late$/)
})

t.test('another error each time may be over the next time: five are tried', async t => {
  const { last } = await reject(t, 'throw new Error("at " + process.hrtime.bigint())')
  t.match(last, /: 5 died or gave up in a row, the last one exited with code 1: Error: at \d+$/)
})

t.test('nothing listens: which option helps', { skip: noProc }, async t => {
  t.match((await reject(t, 'setInterval(() => {}, 1000)', SOON)).last, /not ready within 4000 ms; it does not listen anywhere; a program that serves no port is run with --ready-on online$/)
})

t.test('an app that listens in the branch of its own primary is told so', { skip: noProc }, async t => {
  const source = `const cluster = require("cluster"); if (cluster.isPrimary) ${LISTEN}process.env.PORT); else setInterval(() => {}, 1000)`
  t.match((await reject(t, source, SOON)).last, /; it does not listen anywhere, and the main file has cluster\.isPrimary, which is false in a worker: a listen\(\) in that branch is not reached$/)
})

t.test("a thread's server that finds the port in use is told that it is a sibling's", { skip: noProc }, async t => {
  const child = fork(path.join(t.testdir({ 'server.js': `${LISTEN}0, function () { process.send(this.address().port) })` }), 'server.js'))
  t.teardown(() => child.kill())
  const [port] = await once(child, 'message')
  const died = /** @type {any} */ ({ givenUp: null, refused: null, exception: `Error: listen EADDRINUSE: address already in use :::${port}` })
  const how = await howItDied(died, /** @type {any} */ ({ code: 1, signal: null }))
  t.equal(how, `exited with code 1: port ${port} is in use by pid ${child.pid} of this fleet: a socket of its own (exclusive, a thread, a native server) is for one worker: write -w 1`)
})

t.test('a refused listen() whose error the app passes over, as Express does, is the cause of an end with nothing open', { skip: noProc }, async t => {
  const other = net.createServer().listen(0)
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (other.address())
  const { last } = await fail(t, `require("node:http").createServer().on("error", () => {}).listen(${port})`)
  t.match(last, `exited with code 0: port ${port} is in use by pid ${process.pid} (`)
})

t.test('a socket that recycle was given at another address is no sibling\'s', { skip: noProc }, async t => {
  const own = net.createServer().listen(0)
  t.teardown(() => own.close())
  await once(own, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (own.address())
  const died = /** @type {any} */ ({ givenUp: null, refused: null, exception: `Error: listen EADDRINUSE: address already in use 127.0.0.1:${port}` })
  t.match(await howItDied(died, /** @type {any} */ ({ code: 1, signal: null })), `127.0.0.1:${port} is in use by a socket on that port which recycle has at another address`)
})

t.test('what is advised for a socket of its own works: --ready-on online, one worker', async t => {
  const source = `new (require("node:worker_threads").Worker)(${JSON.stringify(`${LISTEN}${await freePort()})`)}, { eval: true })`
  t.equal((await reject(t, source, { workers: 1, readyOn: 'online' })).last, undefined)
})

t.test('code that still loads', async t => {
  t.match((await reject(t, 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000)', { readyTimeout: '300ms' })).last, /not ready within 300 ms; its code was still loading$/)
})

t.test('a child listens: the child is named', { skip: noProc }, async t => {
  const { last } = await fail(t, 'require("node:child_process").fork("./server.js"); setInterval(() => {}, 1000)', { args: ['--ready-timeout', '4s'] })
  t.match(last, /; its child process pid \d+ \(node \.\/server\.js\) listens on port \d+: give recycle the file of the server itself$/)
})

t.test('a socket of the worker\'s own: that it is, and what serves it', { skip: noProc }, async t => {
  t.match((await reject(t, `${LISTEN}{ port: process.env.PORT, exclusive: true })`, SOON)).last, /; it listens on port \d+ by a socket of its own \(.*--ready-on online serves it, without hand-off, and -w 1 without reusePort$/)
})

t.test('--ready-on message: what was sent in its place', async t => {
  t.match((await reject(t, `process.send({ type: 'ready' }); ${LISTEN}process.env.PORT)`, { ...SOON, readyOn: 'message' })).last, /; its app has not called process\.send\('ready'\), but process\.send\(\{"type":"ready"\}\)$/)
})

t.test('one that dies as soon as it is ready is not said to never become ready', async t => {
  t.match((await fail(t, `${LISTEN}process.env.PORT, () => setTimeout(() => process.exit(4), 100))`)).last, /^no worker stays up: [5-7] died as soon as they were ready, the last one exited with code 4$/)
})
