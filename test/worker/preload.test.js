'use strict'

/** A real worker process, with this test as its primary. */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const t = require('tap')
const { message } = require('../../lib/core/envelope')

const WORKER = path.join(__dirname, '..', '..', 'lib', 'worker')
const APP = path.join(__dirname, '..', 'fixtures', 'plain.js')
const SETTINGS = {
  compileCache: null,
  collectsFirst: false,
  beatMs: 200,
  drainTimeoutMs: 5000,
  stopLingerMs: 1000,
  killTimeoutMs: 1000,
  features: {},
  api: []
}

/** @param {any} t tap's */
async function startWorker (t) {
  cluster.setupPrimary({ exec: APP, execArgv: ['--require', path.join(WORKER, 'preload.js')], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const worker = cluster.fork({ PORT: '0', RECYCLE_SLOT: '0', RECYCLE_WORKER: JSON.stringify(SETTINGS) })
  const handle = /** @type {any} */ (net)._createServerHandle('127.0.0.1', 0, 4)
  /** @type {any[]} */
  const got = []
  const send = (/** @type {string} */ type, /** @type {any} */ fields, /** @type {any} */ socket) =>
    worker.process.send?.(/** @type {any} */ (message(type, fields)), socket)
  worker.process.on('internalMessage', (/** @type {any} */ received, /** @type {any} */ socket) => {
    if (received.cmd !== 'NODE_RECYCLE') return
    got.push({ ...received, socket, at: performance.now() })
    if (received.type === 'listen') send('answer', { id: received.id, errno: 0 }, handle)
  })
  const all = (/** @type {string} */ type) => got.filter(message => message.type === type)
  const until = async (/** @type {string} */ type, count = 1) => {
    while (all(type).length < count) await sleep(5)
    return all(type)
  }
  t.teardown(async () => {
    worker.process.kill('SIGKILL')
    await once(worker, 'exit')
    handle.close()
  })
  await until('listening')
  send('do', { id: 1, verb: 'serve', slot: 0 })
  await until('answer')
  const address = { port: 0 }
  handle.getsockname(address)
  return { send, all, until, port: address.port }
}

t.test('connections that a full sibling has refused are not offered again at once', async t => {
  const worker = await startWorker(t)
  for (let i = 0; i < 3; i++) {
    const client = net.connect(worker.port, '127.0.0.1')
    t.teardown(() => client.destroy())
    client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    await once(client, 'data')
  }
  await sleep(1100) // they have lasted
  worker.send('do', { verb: 'share', load: 0, most: 0, count: 100 })
  const offers = await worker.until('move', 2)
  for (const { id, socket } of offers) {
    socket.close()
    worker.send('moved', { id, ok: false })
  }
  const [, , next] = await worker.until('move', 3)
  t.ok(next.at - offers[1].at > 200, `${Math.round(next.at - offers[1].at)} ms later`)
})

t.test('what runs before a fork starts no timer, observer or IPC listener, and knows no slot', async t => {
  const program = `
    const { PerformanceObserver } = require('node:perf_hooks')
    let observers = 0
    PerformanceObserver.prototype.observe = () => { observers++ }
    const { enter } = require(${JSON.stringify(path.join(WORKER, 'prepare'))}).prepare({ compileCache: null, collectsFirst: false, features: {}, api: [] })
    const listening = require('node:net').createServer().listen(0) // waits for enter()
    console.log(JSON.stringify({
      enter: typeof enter,
      observers,
      timers: process.getActiveResourcesInfo().filter(resource => /Timeout|Immediate/.test(resource)),
      listeners: ['internalMessage', 'message', 'disconnect'].map(event => process.listenerCount(event)),
      slot: process.env.RECYCLE_SLOT,
      isLoaded: [${JSON.stringify(path.join(WORKER, 'enter.js'))}, ${JSON.stringify(path.join(WORKER, 'vitals', 'heartbeat.js'))}].every(file => file in require.cache)
    }))
    process.exit()`
  const found = JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 20_000 }))
  t.same(found, { enter: 'function', observers: 0, timers: [], listeners: [0, 0, 0], isLoaded: true })
})

t.test('of a feature that is on, a worker loads its own part alone', async t => {
  const program = `
    require(${JSON.stringify(path.join(WORKER, 'prepare'))}).prepare({ compileCache: null, collectsFirst: false, features: { exceptions: {}, 'max-handles': {} }, api: [] })
    console.log(JSON.stringify(Object.keys(require.cache).map(file => file.split('/features/')[1]).filter(Boolean)))
    process.exit()`
  const files = JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 20_000 }))
  t.same(files.filter((/** @type {string} */ file) => /worker|feature/.test(file)).sort(), ['exceptions/worker.js', 'max-handles/worker.js'])
})
