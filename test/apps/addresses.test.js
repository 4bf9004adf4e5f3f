'use strict'

const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const readline = require('node:readline')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { clientPerWorker, get } = require('../support/client')
const { BIN, Events, freePort } = require('../support/fleet')
const { Load } = require('../support/load')
const { startApp, endure, checkRecycles, appFile } = require('./under-load')

/**
 * Waits for a reload to begin.
 *
 * @param {Events} events
 * @returns {Promise<(line: Record<string, any>) => boolean>} whether a line belongs to its recycles
 */
async function generationBefore (events) {
  const reload = await events.until('fleet.reload')
  const before = events.lines.slice(0, events.lines.indexOf(reload))
  const pidsOf = (/** @type {string} */ event, key = 'pid') => before.filter(line => line.event === event).map(line => line[key])
  const recycled = pidsOf('recycled', 'oldPid')
  const old = pidsOf('worker.spawn').filter(pid => !recycled.includes(pid))
  return ({ oldPid }) => old.includes(oldPid)
}

t.test('two servers on two ports', async t => {
  process.env.PORT_2 = String(await freePort())
  const fleet = await startApp(t, 'two-ports.js')
  await endure(t, fleet, [fleet.port, Number(process.env.PORT_2)].map(port => new Load({ port, connections: 5 })))
})

t.test('a unix socket', async t => {
  const socketPath = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-')), 'app.sock')
  process.env.WHERE = JSON.stringify({ path: socketPath })
  const fleet = await startApp(t, 'somewhere.js')
  await endure(t, fleet, [new Load({ socketPath, connections: 5 })])
  await fleet.supervisor.stop({ now: true })
  t.notOk(fs.existsSync(socketPath), 'it is removed at the end')
})

// A container may have no IPv6.
const hasIpv6 = Object.values(os.networkInterfaces()).flat().some(about => about?.address === '::1')
t.test('IPv6', { skip: !hasIpv6 && 'this machine has no ::1' }, async t => {
  const port = await freePort()
  process.env.WHERE = JSON.stringify({ port, host: '::1' })
  const fleet = await startApp(t, 'somewhere.js')
  await endure(t, fleet, [new Load({ port, host: '::1', connections: 5 })])
})

t.test('port 0: all workers, replacements too, share one port', async t => {
  process.env.WHERE = JSON.stringify({ port: 0, host: '127.0.0.1' })
  const { supervise } = require('../..')
  const supervisor = supervise({ app: appFile('somewhere.js'), workers: 2, interval: '100ms', stopLinger: '200ms', maxRequests: 50, jitter: 0 })
  t.teardown(() => supervisor.stop({ now: true }))
  const events = new Events()
  const told = new Events()
  supervisor.on('event', (/** @type {any} */ line) => events.push(line))
  supervisor.on('message', (/** @type {any} */ { message }) => told.push({ event: message.what, ...message }))
  await supervisor.ready()
  const { address } = await told.until('listening', { count: 2 })
  await endure(t, { supervisor, events }, [new Load({ port: address.port, connections: 5 })])
  const ports = told.all('listening').map(({ address }) => address.port)
  t.ok(ports.length >= 5)
  t.same([...new Set(ports)], [address.port])
})

t.test('listen({ fd }): a listening socket that the supervisor inherited', async t => {
  const listener = net.createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (listener.address())
  const child = spawn(process.execPath, [BIN, '--log', 'json', '-w', '1', '-i', '100ms', '--max-requests', '50', '--stop-linger', '100ms', appFile('somewhere.js')], {
    env: { ...process.env, WHERE: '{"fd":3}' }, stdio: ['ignore', 'ignore', 'pipe', /** @type {any} */ (listener)._handle.fd]
  })
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  listener.close() // the supervisor owns it now
  const events = new Events()
  readline.createInterface({ input: /** @type {any} */ (child).stderr }).on('line', text => events.push(JSON.parse(text)))
  await events.until('worker.ready')

  const load = new Load({ port, connections: 5 })
  await events.until('recycled')
  child.kill('SIGHUP')
  const isOfOld = await generationBefore(events)
  await events.until('recycled', { where: isOfOld }) // by the reload, or by a budget reached just before
  const { requests, failures } = await load.stop()
  t.same(failures, [], `none of ${requests} requests failed`)
  checkRecycles(t, events)
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
})

t.test('an app that listens late', async t => {
  const fleet = await startApp(t, 'listens-late.js', { workers: 2, maxSurge: 2 })
  await endure(t, fleet, [new Load({ port: fleet.port, connections: 5 })])
  t.ok(fleet.events.all('worker.ready').every(({ readyMs }) => readyMs >= 490), 'no worker was ready before it listened')
})

t.test('a worker whose app has closed its servers and runs on is no ready one, which is said', async t => {
  const { port, supervisor, events } = await startApp(t, 'closes-its-server.js', { workers: 2 })
  t.same(await get(port, '/').then(({ body }) => body), 'ok')
  const { headers: { 'x-pid': pid } } = await get(port, '/close')
  t.match(await events.until('fleet.warning'), { warning: 'no-server', pid: Number(pid) })
  const paused = supervisor.status().workers.map((/** @type {any} */ worker) => [String(worker.pid), worker.paused])
  t.match(Object.fromEntries(paused), { [String(pid)]: 'its app has closed its servers' })
  t.equal(paused.filter(([, why]) => why === null).length, 1, 'the other serves')
  t.match(await get(port, '/'), { status: 200, body: 'ok' })
})

t.test('an app that gives its server, and connections, to a process of its own', async t => {
  const { port, supervisor, events } = await startApp(t, 'sends-its-server.js', { workers: 2 })
  const seen = new Set()
  const seesBoth = async () => {
    seen.clear()
    while (seen.size < 2) {
      const { body, error } = await get(port, '/')
      seen.add(error ?? body)
    }
    t.same([...seen].sort(), ['child', 'worker'], 'both accept from the queue')
  }
  await seesBoth()
  t.match(await get(port, '/child'), { status: 200, body: 'child' })
  const load = new Load({ port, connections: 5 })
  await supervisor.reload()
  await events.until('worker.children', { count: 2 }) // of the workers that are gone
  const { requests, failures } = await load.stop()
  t.same(failures, [], `none of ${requests} requests failed`)
  await seesBoth()
  t.same(events.all('worker.crash'), [])
})

t.test('an app that opens a server on demand, long after it was ready: its worker is replaced all the same; a reload waits for it once all have one', async t => {
  const { port, supervisor, events } = await startApp(t, 'opens-on-demand.js', { workers: 2, readyTimeout: '4s' })
  const [agent] = (await clientPerWorker(t, port, 2, 'x-pid')).values()
  await setTimeout(5200)
  const { headers, body } = await get(port, '/more', { agent })
  t.match(await get(Number(body)), { status: 200, body: 'more' })
  const opener = supervisor.status().workers.find((/** @type {any} */ { pid }) => pid === Number(headers['x-pid']))
  await supervisor.recycle(opener.slot) // it is replaced all the same, by one without that server
  t.same(events.all('worker.not-ready'), [])
  t.same(events.all('fleet.warning'), [])
  t.match(await get(port, '/', { agent }), { status: 200, body: 'ok' })
  const client = net.connect(Number(body), '127.0.0.1')
  await once(client, 'connect') // it waits in the queue
  client.destroy()

  // All workers have opened one now, and a reload gives the replacements time to, once; it is over with
  // --ready-timeout.
  for (const agent of (await clientPerWorker(t, port, 2, 'x-pid')).values()) await get(port, '/more', { agent })
  await supervisor.reload()
  t.equal(events.all('recycled').length, 3)
  t.same(events.all('fleet.warning').map(({ warning }) => warning), ['on-demand'], 'once')
  t.match(await get(port), { status: 200 })
  t.equal(supervisor.parts.fleet.commonAddresses().length, 1)

  process.env.AT_ONCE = '1' // other code, which opens that server at once: it is waited for again
  t.teardown(() => { delete process.env.AT_ONCE })
  await supervisor.reload()
  t.equal(supervisor.parts.fleet.commonAddresses().length, 2)
})

t.test('an app all of whose workers have opened a server with a request: a replacement is given time to listen there, once', async t => {
  const { port, supervisor, events } = await startApp(t, 'opens-on-demand.js', { workers: 2 })
  const load = new Load({ port, connections: 2 })
  const agents = [...(await clientPerWorker(t, port, 2, 'x-pid')).values()]
  for (const agent of agents) t.match(await get(port, '/more', { agent }), { status: 200 })
  const { readyMs } = await supervisor.recycle(0)
  t.ok(readyMs >= 10_000, `${readyMs} ms`)
  t.match(events.all('fleet.warning'), [{ warning: 'on-demand', slot: 0, addresses: [/./], lateMs: 10_000 }])
  t.ok((await supervisor.recycle(1)).readyMs < 10_000)
  t.equal(events.all('fleet.warning').length, 1)
  t.same(events.all('worker.not-ready'), [])
  for (const agent of agents) t.match(await get(port, '/', { agent }), { status: 200, body: 'ok' })
  t.same((await load.stop()).failures, [])
})

t.test('an app with a port per slot: a reload waits for no port of another slot', async t => {
  const ports = [await freePort(), await freePort()]
  process.env.PORTS = ports.join()
  t.teardown(() => { delete process.env.PORTS })
  const { supervisor, events } = await startApp(t, 'port-per-slot.js', { workers: 2 })
  await supervisor.reload()
  t.same(events.all('fleet.warning').filter(({ warning }) => warning === 'on-demand'), [])
  for (const [slot, port] of ports.entries()) t.match(await get(port), { status: 200, body: String(slot) })
})

t.test('an app that opens a second server a second after the first is waited for', async t => {
  const { supervisor, events } = await startApp(t, 'opens-later.js')
  await events.until('worker.ready')
  await setTimeout(1500)
  const { readyMs } = await supervisor.recycle(0)
  t.ok(readyMs >= 1000 && readyMs < 10_000, `${readyMs} ms`)
  t.same(events.all('fleet.warning'), [])
})
