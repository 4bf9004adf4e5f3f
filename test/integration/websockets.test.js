'use strict'

/** WebSockets of the package ws, which go to another worker when theirs is replaced. */

const { once } = require('node:events')
const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { startFleet, FIXTURES } = require('../support/fleet')
const { startUpgradable } = require('../support/upgrade')
const { get } = require('../support/client')
const { skip: skipMold } = require('../support/mold')
const { WebSocketClient, frame } = require('../../bench/support/web-socket-client')
const { becomesTrue } = require('../support/processes')
const { Hub } = require('../../bench/support/hub')
const path = require('node:path')

const [CLIENTS, RELOADS, PAUSE_MS] = [12, 2, 150]

/** @param {any} t tap's @param {number} port @param {string} [where] @param {string[]} [headers] */
async function open (t, port, where, headers) {
  const client = await WebSocketClient.connect(port, where, headers)
  t.teardown(() => client.destroy())
  return client
}

/**
 * @param {WebSocketClient} client @param {string} text
 * @returns {Promise<{ count: number, pid: number, url: string, protocol: string, name: string, body: string }>}
 */
async function echo (client, text) {
  client.send(text)
  return answer(client)
}

/** @param {WebSocketClient} client */
async function answer (client) {
  const [count, pid, url, protocol, name, body] = String(await client.next()).split(' ')
  return { count: Number(count), pid: Number(pid), url, protocol, name, body }
}

t.test('under a reload no message is lost, doubled or out of order, and none closes; each goes once', async t => {
  process.env.REBALANCE = '0'
  t.teardown(() => { delete process.env.REBALANCE })
  const { port, supervisor, events } = await startFleet(t, 'websockets.js', { workers: 2 })
  const run = { isOver: false }
  const answers = Array(CLIENTS).fill(0)
  const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => open(t, port, `/room${i}?a=b`, ['Sec-WebSocket-Protocol: x, y', `X-Name: n${i}`])))
  const runs = clients.map(async (client, i) => {
    const pids = []
    let count = 0
    while (!run.isOver) {
      const body = (i % 5 === 0 ? 'slow' : 'm') + 'x'.repeat(Math.random() * 5000)
      const got = await echo(client, body)
      const expected = { count: ++count, url: `/room${i}?a=b`, protocol: 'y', name: `n${i}`, body }
      if (Object.entries(expected).some(([key, value]) => got[key] !== value)) {
        t.same({ ...got, pid: 0 }, { ...expected, pid: 0 })
      }
      if (pids.at(-1) !== got.pid) pids.push(got.pid)
      answers[i]++
      await delay(Math.random() * PAUSE_MS)
    }
    return { count, workers: pids.length }
  })
  for (let i = 0; i < RELOADS; i++) {
    await supervisor.reload()
    const least = answers.map(count => count + 2) // the second one has been asked for after the reload
    while (answers.some((count, i) => count < least[i])) await delay(10)
  }
  run.isOver = true
  const all = await Promise.all(runs)
  t.same(all.map(({ workers }) => workers), Array(CLIENTS).fill(1 + RELOADS), 'one more by each reload')
  t.ok(all.every(({ count }) => count > 3))
  t.equal(clients.filter(({ isEnded }) => isEnded).length, 0)
  for (const line of events.all('recycled')) t.match(line, { cut: 0, cuts: [] })
})

t.test('with permessage-deflate', async t => {
  process.env.DEFLATE = '1'
  const { port, supervisor } = await startFleet(t, 'websockets.js', { workers: 1 })
  t.teardown(() => { delete process.env.DEFLATE })
  const WebSocket = require('ws')
  const ws = new WebSocket(`ws://127.0.0.1:${port}/`, ['y'])
  t.teardown(() => ws.terminate())
  await once(ws, 'open')
  t.equal(ws.extensions, 'permessage-deflate')
  const workers = new Set()
  for (let i = 1; i <= 40; i++) {
    if (i % 15 === 0) await supervisor.reload()
    ws.send('m'.repeat(i * 100))
    const [data] = await once(ws, 'message')
    const [count, pid,,,, body] = String(data).split(' ')
    workers.add(pid)
    t.same([Number(count), body.length], [i, i * 100])
  }
  t.equal(workers.size, 3)
})

t.test('half a frame goes along; a message that has come in part, or is not answered, is waited for; listeners that the app removes are not', async t => {
  const { port, supervisor } = await startFleet(t, 'websockets.js', { workers: 1 })
  const client = await open(t, port)
  const first = await echo(client, 'one')
  const bytes = frame('two'.repeat(500))
  client.write(bytes.subarray(0, 700))
  await delay(100)
  await supervisor.recycle(0)
  client.write(bytes.subarray(700))
  const second = await answer(client)
  t.same([second.count, second.body], [2, 'two'.repeat(500)])
  t.not(second.pid, first.pid)

  client.send('th', { isFinal: false })
  const recycled = supervisor.recycle(0)
  await delay(300)
  t.equal(await client.ping('between fragments'), 'between fragments')
  client.send('ree', { opcode: 'continuation' })
  const third = await answer(client)
  t.match(third, { count: 3, pid: second.pid, body: 'three' }, 'the worker that had its first part')
  await recycled
  client.send('slow four')
  await delay(5)
  await supervisor.recycle(0)
  t.match(await answer(client), { count: 4, body: 'slow' })
  t.equal(await client.ping(), 'here')
  const fifth = await echo(client, 'anew')
  await supervisor.recycle(0)
  const sixth = await echo(client, 'six')
  t.match(sixth, { count: 6, body: 'six' })
  t.not(sixth.pid, fifth.pid, 'the app has taken its listeners off, and put others on')
})

t.test('what is pushed meanwhile comes once and in order, also as a worker more gets its share; those that stay hear `close`', async t => {
  const hub = await Hub.open()
  t.teardown(() => hub.close())
  process.env.HUB = String(hub.port)
  t.teardown(() => { delete process.env.HUB })
  const { port, supervisor, events } = await startFleet(t, 'pushed-websockets.js', { workers: 2 })
  const clients = await Promise.all(Array.from({ length: 8 }, (_, i) => open(t, port, `/room${i % 2}`)))
  await Promise.all(clients.map(client => client.next())) // it has joined its room
  const heard = clients.map(() => /** @type {number[]} */ ([]))
  clients.forEach((client, i) => client.on('message', data => { if (/^\d+$/.test(data)) heard[i].push(Number(data)) }))
  hub.publish(['/room0', '/room1'], 10)
  await supervisor.scale(3)
  const countsOf = () => supervisor.status().workers.map(({ connections }) => connections).sort()
  t.ok(await becomesTrue(() => String(countsOf()) === '2,3,3', 20_000), `${countsOf()}`)
  t.ok(supervisor.status().totals.moves.number >= 2)
  await supervisor.reload()
  for (const slot of [0, 1]) await supervisor.gc(slot)
  const last = hub.stop()
  await becomesTrue(() => heard.every(numbers => numbers.at(-1) === last), 5000)
  t.same(heard.map(numbers => numbers.filter((number, i) => number !== i + 1)), clients.map(() => []))
  t.same(heard.map(numbers => numbers.length), clients.map(() => last))
  t.equal(clients.filter(({ isEnded }) => isEnded).length, 0)
  t.ok(events.all('collected').some(({ moved }) => moved > 0))
  const of = new Map()
  for (let i = 0; i < 500 && of.size < 3; i++) {
    const { pid, ...counts } = JSON.parse((await get(port)).body)
    of.set(pid, counts)
  }
  const sum = key => [...of.values()].reduce((sum, counts) => sum + counts[key], 0)
  t.same(['clients', 'online', 'timers'].map(sum), [8, 8, 8])
  t.ok([...of.values()].some(({ codes }) => codes['1012 moved'] > 0))
  clients[0].send('', { opcode: 'close' })
  await once(clients[0], 'end')
})

t.test('what cannot go is closed with 1012, and at a stop all are, at once', async t => {
  const hub = await Hub.open()
  t.teardown(() => hub.close())
  Object.assign(process.env, { HUB: String(hub.port), USER_NAME: 'joe' })
  t.teardown(() => { for (const name of ['HUB', 'USER_NAME']) delete process.env[name] })
  const { port, supervisor, events } = await startFleet(t, 'pushed-websockets.js', { workers: 1 })
  const ask = async (/** @type {WebSocketClient} */ client) => {
    client.send('m')
    return [String(await client.next()), String(await client.next())]
  }
  const first = await open(t, port)
  t.same(await ask(first), ['joined', 'answer 1 joe'])
  await supervisor.recycle(0)
  t.same([String(await first.next()), await first.next(), first.code], ['bye', null, 1012], 'by its third argument')
  const others = await Promise.all(Array.from({ length: 5 }, () => open(t, port)))
  for (const client of others) t.same(await ask(client), ['joined', 'answer 1 joe'], 'as it has in the new worker')
  t.match(events.all('recycled'), [{ restarted: { arguments: 1 } }])
  t.match(events.all('fleet.warning').filter(({ warning }) => warning === 'stayed'), [{ why: 'arguments', slot: 0 }])
  await supervisor.stop()
  t.match(events.all('stopped'), [{ restarted: { stop: 5 } }])
  t.same(others.map(({ code }) => code), others.map(() => 1012))
  for (const line of [...events.all('recycled'), ...events.all('stopped')]) {
    t.match(line, { cut: 0 })
    t.ok(line.drainMs < 10_000, `${line.drainMs} ms`)
  }
})

t.test('what the siblings refuse is closed with 1012 as they do, what the app keeps at the deadline, and what waits in a worker that drains when a stop begins', async t => {
  const folder = t.testdir({
    name: 'one',
    'app.js': `
      const server = require('node:http').createServer().listen(process.env.PORT)
      const { WebSocketServer } = require(${JSON.stringify(require.resolve('ws'))})
      const { webSockets } = require(${JSON.stringify(path.resolve('lib/worker'))})
      const name = require('node:fs').readFileSync(__dirname + '/name', 'utf8')
      const [told, windowed, untold] = [{}, { perMessageDeflate: true }, {}].map(how => new WebSocketServer({ noServer: true, ...how }))
      const save = ws => {
        if (ws.where === '/threw') throw new Error('no state of this one')
        return ws.where === '/busy' ? null : undefined
      }
      webSockets(told, { name, save })
      webSockets(windowed, { name: 'windowed' })
      windowed.options.perMessageDeflate = {} // the app knows better
      server.on('upgrade', (request, socket, head) => {
        const sockets = { '/compression': windowed, '/not-told': untold }[request.url] ?? told
        sockets.handleUpgrade(request, socket, head, ws => sockets.emit('connection', ws, request))
      })
      for (const sockets of [told, windowed, untold]) {
        sockets.on('connection', (ws, { url }) => Object.assign(ws, { where: url }).on('message', () => ws.send(name, { compress: false })))
      }`
  })
  const { port, supervisor, events } = await startFleet(t, path.join(folder, 'app.js'), { workers: 1, drainTimeout: '5s' })
  const ask = async (/** @type {WebSocketClient} */ client) => {
    client.send('m')
    return String(await client.next())
  }
  const refused = await open(t, port)
  t.equal(await ask(refused), 'one')
  fs.writeFileSync(path.join(folder, 'name'), 'two') // the new code has no server of the old one's name
  const { cut, drainMs } = await supervisor.recycle(0)
  t.same([await refused.next(), refused.code, cut], [null, 1012, 0])
  t.ok(drainMs < 5000, `${drainMs} ms`)

  const whys = ['compression', 'busy', 'threw', 'not-told']
  const kept = await Promise.all(whys.map(why => open(t, port, `/${why}`, why === 'compression' ? ['Sec-WebSocket-Extensions: permessage-deflate'] : [])))
  for (const client of kept) t.equal(await ask(client), 'two')
  await supervisor.recycle(0)
  t.same(await Promise.all(kept.map(client => client.next())), whys.map(() => null))
  t.same(kept.map(({ code }) => code), [1012, 1012, 1012, null])

  const waits = await open(t, port)
  t.equal(await ask(waits), 'two')
  waits.socket.write(frame('the first fragment', { isFinal: false }))
  const recycled = supervisor.recycle(0).catch(() => {})
  await events.until('worker.drain', { count: 3 })
  await supervisor.stop()
  await recycled
  t.same([await waits.next(), waits.code], [null, 1012])
  t.match(events.all('recycled'), [
    { restarted: { refused: 1 } },
    { restarted: { compression: 1, busy: 1, threw: 1 }, cut: 1, cuts: [{ upgraded: true, why: 'not-told' }] },
    { restarted: { stop: 1 }, cut: 0 }
  ])
  t.match(events.all('worker.threw'), [{ where: 'movable', error: /no state of this one/ }])
  t.same(events.all('fleet.warning').filter(({ warning }) => warning === 'stayed').map(({ why }) => why).sort(), [...whys, 'refused'].sort())
})

t.test('with TLS of the app they are closed with 1012 in a reload, one after the other', async t => {
  process.env.TLS = '1'
  t.teardown(() => { delete process.env.TLS })
  const { port, supervisor, events } = await startFleet(t, 'websockets.js', { workers: 1, drainTimeout: '10s' })
  const WebSocket = require('ws')
  const clients = await Promise.all(Array.from({ length: 20 }, async () => {
    const ws = new WebSocket(`wss://127.0.0.1:${port}/`, ['y'], { rejectUnauthorized: false })
    t.teardown(() => ws.terminate())
    await once(ws, 'open')
    return ws
  }))
  const closed = clients.map(async ws => {
    const [code, reason] = await once(ws, 'close')
    return { code, reason: String(reason), at: performance.now() }
  })
  await supervisor.reload()
  const all = await Promise.all(closed)
  t.same(all.map(({ code, reason }) => `${code} ${reason}`), all.map(() => '1012 service restart'))
  const times = all.map(({ at }) => at)
  t.ok(Math.max(...times) - Math.min(...times) > 200, 'at a bounded rate')
  t.match(events.all('recycled').at(-1), { restarted: { tls: 20 }, cut: 0, cuts: [] })
  t.ok(events.all('recycled').at(-1).drainMs < 9000, 'before the deadline')
})

t.test('recycle upgrade: they go to the workers of the next primary', async t => {
  const { port, child, events, primary } = await startUpgradable(t, [path.join(FIXTURES, 'websockets.js')])
  const clients = await Promise.all(Array.from({ length: 6 }, () => open(t, port)))
  const before = await Promise.all(clients.map(client => echo(client, 'm')))
  child.kill('SIGUSR2')
  await events.until('fleet.upgraded')
  t.not(primary(), child.pid)
  await Promise.all(clients.map(async (client, i) => { // the old workers leave when the new primary has the fleet
    for (let count = 2; ; count++) {
      const got = await echo(client, 'm')
      if (got.count !== count) return t.equal(got.count, count)
      if (before.every(({ pid }) => pid !== got.pid)) return t.pass(`client ${i} has gone by message ${count}`)
    }
  }))
})

t.test('forked workers, too', { skip: skipMold }, async t => {
  const { port, supervisor } = await startFleet(t, 'websockets.js', { workers: 1, fork: 'mold' })
  const client = await open(t, port)
  const pids = new Set()
  for (let i = 1; i <= 3; i++) {
    const { count, pid } = await echo(client, 'm')
    t.equal(count, i)
    pids.add(pid)
    if (i < 3) await supervisor.reload()
  }
  t.equal(pids.size, 3)
})
