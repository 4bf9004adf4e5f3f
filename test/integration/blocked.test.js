'use strict'

/** A worker whose event loop is blocked is replaced, and killed by one rule; what only looks like it is not. */

const { on, once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const t = require('tap')
const { WebSocket } = require('ws')
const { get, clientPerWorker, keepAsking } = require('../support/client')
const { loadAddon } = require('../../lib/native/addon')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')

const OPTIONS = { workers: 2, interval: '200ms', stuckTimeout: '1s', killTimeout: '500ms' }
const HALF_A_MINUTE = 'ms=30000'
/** Where the one is that waits. */
const HELD = [/^Atomics\.wait /, /^hold \(.*blocked\.js:13:\d+\)$/]
/** What a busy machine may add. */
const SLACK_MS = 2500
/** What becomes of the request that blocks: no other worker gets it. */
const LOST = loadAddon().addon ? { status: 502 } : { error: 'ECONNRESET' }

/** @param {any} events @param {string} event @param {number} pid @param {string} [of] */
const lineOf = (events, event, pid, of = 'pid') => events.until(event, { where: (/** @type {any} */ line) => line[of] === pid })

/**
 * @param {number} port @param {number} count clients
 * @returns {Promise<{ pid: number, agent: http.Agent }[]>} each with the worker that its connection is with
 */
async function clients (port, count) {
  return Promise.all(Array.from({ length: count }, async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    return { pid: Number((await get(port, '/', { agent })).headers['x-pid']), agent }
  }))
}

for (const [how, options, route, stack] of /** @type {const} */ ([
  ['spawned', {}, '/report', [/^compute \(.*blocked\.js:9:\d+\)$/]],
  ['forked', { fork: 'mold' }, '/held', HELD],
  ['with a standby', { standby: 1 }, '/held', HELD]
])) {
  t.test(`a worker that ${route === '/held' ? 'waits' : 'computes'} for half a minute is replaced within the limit, and said is where; no other client sees anything of it: ${how}`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'blocked.js', { ...OPTIONS, ...options })
    let all = await clients(port, 8)
    // On a busy machine one worker may accept them all
    while (all.every(({ pid }) => pid === all[0].pid)) all = await clients(port, 8)
    const [{ pid, agent }] = all
    const others = all.slice(1).filter(client => client.pid !== pid || LOST.status)
    t.ok(others.some(client => client.pid !== pid))
    const stops = others.map(client => keepAsking(port, '/', client.agent, 50))
    await get(port, '/slow?ms=100') // connections younger than that die with their worker
    const began = Date.now()
    const blocked = get(port, `${route}?${HALF_A_MINUTE}`, { agent })

    const condemned = await lineOf(events, 'worker.condemn', pid)
    t.match(condemned, { reason: 'stuck' })
    t.ok(condemned.silentMs >= 1000 && condemned.t - began < 1500 + SLACK_MS, `after ${condemned.t - began} ms`)
    const { request, requests, stack: where, blockedMs } = await lineOf(events, 'worker.blocked', pid)
    t.same([request, requests], [`GET ${route}`, [{ request: `GET ${route}`, count: 1 }]])
    t.match(where, stack)
    t.ok(blockedMs >= 1000 && blockedMs < 1500 + SLACK_MS, `${blockedMs} ms`)

    t.match(await lineOf(events, 'recycled', pid, 'oldPid'), { reason: 'stuck', lost: true, ended: 'killed' })
    t.match(await blocked, LOST)
    t.match(await lineOf(events, 'worker.retire', pid), { signal: 'SIGKILL', killedFor: 'blocked' })
    const life = events.lines.filter(line => line.event === 'worker.ready' || (line.pid === pid && ['worker.drain', 'worker.retire'].includes(line.event)))
    t.same(life.slice(-3).map(({ event }) => event), ['worker.ready', 'worker.drain', 'worker.retire'], 'its replacement is ready before it is killed')
    t.ok(life[life.length - 1].t - life[life.length - 2].t < SLACK_MS, 'at once then')
    for (const stop of stops) t.same((await stop()).failures, [])
    t.match(supervisor.status(), { totals: { workers: 2, ready: 2, recycles: 1 }, blockedLoops: { count: 1, latest: { request: `GET ${route}` } } })
  })
}

t.test('the only worker: clients wait for its replacement alone', async t => {
  const { port, events } = await startFleet(t, 'blocked.js', { ...OPTIONS, workers: 1 })
  get(port, `/later?${HALF_A_MINUTE}`)
  const [{ pid }] = events.all('worker.ready')
  await events.until('worker.sample', { where: line => line.silentMs > 500 })
  const { status, headers } = await get(port)
  t.equal(status, 200)
  t.not(headers['x-pid'], String(pid))
  t.match(await lineOf(events, 'worker.blocked', pid), { request: 'GET /later', stack: [/^compute .*:9:/] })
})

t.test('of native code it is not known where it is; it is replaced all the same', async t => {
  const { port, events } = await startFleet(t, 'blocked.js', { ...OPTIONS, workers: 1 })
  const [{ pid }] = events.all('worker.ready')
  get(port, `/native?${HALF_A_MINUTE}`)
  t.match(await lineOf(events, 'worker.blocked', pid), { request: null, requests: null, stack: null })
  t.match(await lineOf(events, 'worker.retire', pid), { killedFor: 'blocked' })
})

t.test('one whose event loop is free again before its replacement is ready drains as any other', async t => {
  const { port, events } = await startFleet(t, 'blocked.js', OPTIONS)
  process.env.BOOT_MS = '1500'
  t.teardown(() => delete process.env.BOOT_MS)
  const [{ pid, agent }] = await clients(port, 1)
  const held = get(port, '/held?ms=1700', { agent })
  await lineOf(events, 'worker.condemn', pid)
  t.match(await held, { status: 200, headers: { 'x-pid': String(pid) } })
  t.match(await lineOf(events, 'recycled', pid, 'oldPid'), { reason: 'stuck', lost: false, cut: 0, ended: 'retired' })
  t.match(await get(port, '/', { agent }), { status: 200, reused: true }, 'its connection has moved')
})

for (const [how, what, options, from, killedFor] of /** @type {const} */ ([
  ['reload', 'at the kill timeout after the drain timeout', { drainTimeout: '1s', stuckTimeout: '1m', killTimeout: '1s' }, 'drain', 'no-account'],
  ['stop', 'at the kill timeout after the drain timeout', { drainTimeout: '1s', stuckTimeout: '1m', killTimeout: '1s' }, 'drain', 'no-account'],
  ['scale', 'when it has been blocked for the stuck timeout', { drainTimeout: '1m', stuckTimeout: '2s' }, 'block', 'blocked'],
  ['stop', 'when it has been blocked for the stuck timeout', { drainTimeout: '1m', stuckTimeout: '2s' }, 'block', 'blocked']
])) {
  t.test(`one that is blocked in a ${how} is killed ${what}`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'blocked.js', { ...OPTIONS, ...options })
    const all = await clientPerWorker(t, port, 2, 'x-pid')
    const { pid } = supervisor.status().workers[1]
    const began = Date.now()
    get(port, `/held?${HALF_A_MINUTE}`, { agent: all.get(pid) })
    await events.until('worker.sample', { where: line => line.pid === pid && line.silentMs > 600 })
    const done = how === 'stop' ? supervisor.stop() : how === 'scale' ? supervisor.scale(1) : supervisor.reload()
    const drain = await lineOf(events, 'worker.drain', pid)
    const retire = await lineOf(events, 'worker.retire', pid)
    const took = retire.t - (from === 'drain' ? drain.t : began)
    t.equal(retire.killedFor, killedFor)
    // It may have been heard before the block
    t.ok(took >= (from === 'drain' ? 1950 : 1450) && took < 3000 + SLACK_MS, `${took} ms`)
    t.match(events.all('worker.blocked'), [{ pid, request: 'GET /held', stack: HELD }])
    await done
  })
}

t.test('a worker that is stopped is not blocked: it is said, and it stays; blocked later, it is replaced', async t => {
  const { port, events, supervisor } = await startFleet(t, 'blocked.js', OPTIONS)
  const all = await clientPerWorker(t, port, 2, 'x-pid')
  const [[pid, agent]] = all
  process.kill(pid, 'SIGSTOP')
  t.match(await events.until('fleet.warning', { where: ({ warning }) => warning === 'stopped' }), { pid, by: 'signal' })
  await events.until('worker.sample', { where: line => line.pid === pid && line.silentMs > 3000 })
  process.kill(pid, 'SIGCONT')
  t.match(await get(port, '/', { agent }), { status: 200, headers: { 'x-pid': String(pid) }, reused: true })
  const samples = events.all('worker.sample').filter(line => line.pid === pid).length
  await events.until('worker.sample', { where: line => line.pid === pid, count: samples + 5 })
  t.same(events.all('worker.condemn'), [])
  t.same(events.all('worker.blocked'), [])
  t.equal(supervisor.status().workers.find((/** @type {any} */ worker) => worker.pid === pid).blockedMs, 0)
  get(port, `/held?${HALF_A_MINUTE}`, { agent })
  t.match(await lineOf(events, 'recycled', pid, 'oldPid'), { reason: 'stuck', ended: 'killed' })
})

t.test('nor does a primary that was stopped itself find its workers blocked', async t => {
  const { child, port, events, exited } = await startCli(t, ['-w', '2', '-i', '100ms', '--stuck-timeout', '1s', path.join(FIXTURES, 'blocked.js')])
  await events.until('worker.ready', { count: 2 })
  for (let i = 0; i < 3; i++) {
    child.kill('SIGSTOP')
    await new Promise(resolve => setTimeout(resolve, 1500))
    child.kill('SIGCONT')
    await events.until('fleet.slept', { count: i + 1 })
    t.match(await get(port), { status: 200 })
  }
  t.same(events.all('worker.condemn'), [])
  t.same(events.all('worker.blocked'), [])
  child.kill('SIGTERM')
  t.match(await exited, { code: 0 })
})

t.test('an open inspector holds nothing: the worker passes its health check, and is replaced when it blocks; one at a breakpoint stays', async t => {
  const { port, events } = await startFleet(t, 'misbehaves.js', { ...OPTIONS, nodeOption: ['--inspect=0'], health: '/', healthPeriod: '1s' })
  const [[blocked, agent], [held, other]] = await clientPerWorker(t, port, 2)
  const debug = await attach(t, (await get(port, '/inspect', { agent: other })).body)
  await debug('Debugger.enable')
  const atBreakpoint = get(port, '/break', { agent: other })
  get(port, '/spin', { agent })
  t.match(await lineOf(events, 'recycled', blocked, 'oldPid'), { reason: 'stuck', ended: 'killed' })
  t.match(await events.until('fleet.warning', { where: ({ warning }) => warning === 'stopped' }), { pid: held, by: 'debugger' })
  await debug('Debugger.resume')
  t.match(await atBreakpoint, { status: 200, body: String(held) })
  t.same(events.lines.filter(({ event, pid }) => pid === held && ['worker.condemn', 'worker.drain', 'worker.health'].includes(event)).filter(({ why }) => why !== null), [])
})

t.test('with --inspect-brk a worker waits for its debugger, past --ready-timeout', async t => {
  const { child, port, events, said, exited } = await startCli(t, ['-w', '1', '--ready-timeout', '1s', '--node-option=--inspect-brk=0', path.join(FIXTURES, 'misbehaves.js')])
  const { time: began } = await events.until('worker.spawn')
  const url = () => said.map(line => /ws:\S+/.exec(line)?.[0]).find(Boolean)
  while (url() === undefined || Date.now() < began + 2500) await new Promise(resolve => setTimeout(resolve, 50))
  t.same(events.all('worker.drain'), [])
  const debug = await attach(t, String(url()))
  await debug('Runtime.runIfWaitingForDebugger')
  await events.until('worker.ready')
  t.match(await get(port), { status: 200 })
  child.kill('SIGTERM')
  t.match(await exited, { code: 0 })
})

/**
 * A debugger.
 *
 * @param {any} t @param {string} url of an inspector
 * @returns {Promise<(method: string) => Promise<void>>} resolves when it is done
 */
async function attach (t, url) {
  const socket = new WebSocket(url)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  let id = 0
  return async method => {
    const own = ++id
    socket.send(JSON.stringify({ id: own, method }))
    for await (const [data] of on(socket, 'message')) if (JSON.parse(data).id === own) return
  }
}
