'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const tls = require('node:tls')
const t = require('tap')
const { startFleet, freePort, sumOfEnds } = require('../support/fleet')
const { get } = require('../support/client')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const OPTIONS = { workers: 1, interval: '100ms', drainTimeout: '10s' }

/** @param {any} t @param {string} mode @param {Record<string, any>} [options] */
async function startUnusual (t, mode, options = {}) {
  Object.assign(process.env, { MODE: mode, PORT2: String(await freePort()) })
  return { ...await startFleet(t, 'unusual.js', { ...OPTIONS, ...options }), port2: Number(process.env.PORT2) }
}

/** @param {any} t @param {Record<string, any>} line the journal's `recycled` */
function assertAccount (t, line) {
  t.match(line, { cut: 0, lost: false })
  t.equal(sumOfEnds(line), line.connections)
}

/** A client that sends any text. @param {import('node:net').Socket} socket */
function talk (socket) {
  let heard = ''
  socket.on('data', chunk => { heard += chunk }).on('error', () => {})
  return {
    socket,
    get heard () { return heard },
    /** @param {string} text @param {RegExp} [until] */
    async say (text, until = /\r\n\r\n.+/s) {
      heard = ''
      socket.write(text)
      while (!until.test(heard) && !socket.destroyed) await setTimeout(5)
      return heard
    }
  }
}

t.test('a server that listens a second time counts each connection once', async t => {
  const { port, supervisor } = await startUnusual(t, 'again')
  for (let i = 0; i < 20; i++) await get(port, '/')
  const load = new Load({ port, connections: 5 })
  await load.after(20)
  const line = await supervisor.recycle(0)
  assertAccount(t, line)
  t.ok(line.connections <= 6, `${line.connections} connections`)
  t.same((await load.stop()).failures, [])
})

t.test('TLS sockets that one server emits on another do not move, and the worker survives', async t => {
  const { port2, supervisor, events } = await startUnusual(t, 'fed')
  const client = talk(tls.connect({ port: port2, host: '127.0.0.1', rejectUnauthorized: false }))
  t.match(await client.say('GET /1 HTTP/1.1\r\nHost: x\r\n\r\n'), /\/1 \d+/)
  const recycled = supervisor.recycle(0)
  await events.until('worker.drain')
  t.match(await client.say('GET /2 HTTP/1.1\r\nHost: x\r\n\r\n'), /Connection: close[^]*\/2 \d+/)
  const line = await recycled
  assertAccount(t, line)
  t.match(events.all('worker.retire'), [{ pid: line.oldPid }])
})

t.test('an app that writes Connection: keep-alive itself, in an object or in an array, is overruled when its worker drains', async t => {
  const { port, supervisor, events } = await startUnusual(t, 'insists')
  const clients = ['/', '/raw'].map(url => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    t.teardown(() => agent.destroy())
    return () => new Promise((resolve, reject) => https.get({ port, host: '127.0.0.1', path: url, agent }, response => {
      response.resume().on('end', () => resolve(response.headers))
    }).on('error', reject))
  })
  for (const ask of clients) t.match(await ask(), { connection: 'keep-alive' })
  const recycled = supervisor.recycle(0)
  await events.until('worker.drain')
  const last = await Promise.all(clients.map(ask => ask()))
  for (const [i, ask] of clients.entries()) {
    t.equal(last[i].connection, 'close')
    t.not((await ask())['x-pid'], last[i]['x-pid'], 'the next one is the new worker\'s')
  }
  assertAccount(t, await recycled)
})

/** @param {number} i @param {string} [request] */
const proxied = (i, request = GET) => `PROXY TCP4 10.1.1.${i} 10.0.0.1 5000 80\r\n${request}`

t.test('connections with a header of the PROXY protocol move with it, idle or not, at a replacement and as their worker dies', async t => {
  for (const options of [{}, { handoff: false }]) {
    const { port, supervisor, events } = await startUnusual(t, 'proxied', { workers: 2, ...options })
    const clients = [1, 2, 3, 4, 5, 6].map(i => ({ i, ...talk(net.connect(port, '127.0.0.1')) }))
    const late = talk(net.connect(port, '127.0.0.1')) // nothing has been read of it
    for (const { i, say } of clients) t.match(await say(proxied(i)), `PROXY TCP4 10.1.1.${i} `)
    const covered = () => becomesTrue(() => supervisor.status().failover.connections === clients.length + 1)
    t.ok(await covered())
    if (options.handoff !== false) t.match(await supervisor.recycle(0), { cut: 0, lost: false, closedAfterResponse: 0 })
    for (let kills = 0; kills < 3; kills++) {
      const answers = clients.map(async ({ i, say }) => {
        const text = kills === 2 ? GET : 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'
        t.match(await say(text), `PROXY TCP4 10.1.1.${i} `, `kill ${kills}`)
      })
      if (kills < 2) await setTimeout(100)
      const { pid } = supervisor.status().workers.sort((a, b) => b.connections - a.connections)[0]
      process.kill(pid, 'SIGKILL')
      await Promise.all(answers)
      t.match(await events.until('worker.crash', { where: line => line.pid === pid }), { answered: 0, cut: 0 })
      await events.until('worker.ready', { count: 2 + kills + 1 + (options.handoff === false ? 0 : 1) })
      t.ok(await covered())
    }
    t.match(await late.say(proxied(9)), 'PROXY TCP4 10.1.1.9 ')
    t.ok(clients.every(({ socket }) => !socket.destroyed), 'each client has the connection that it opened')
    t.same(events.all('fleet.warning').filter(({ warning }) => warning === 'no-handoff'), [])
    for (const { socket } of [...clients, late]) socket.destroy()
    await supervisor.stop()
  }
})

t.test('connections of which the app reads first bytes of its own do not move, and this is said once', async t => {
  const { port, supervisor, events } = await startUnusual(t, 'proxied')
  const clients = [1, 2, 3].map(i => ({ i, ...talk(net.connect(port, '127.0.0.1')) }))
  for (const { i, say } of clients) t.match(await say(`HELLO ${i}\r\n${GET}`), `HELLO ${i} `)
  const recycled = supervisor.recycle(0)
  await events.until('worker.drain')
  for (const { i, say } of clients) {
    const last = await say(GET)
    t.match(last, `HELLO ${i} `)
    t.match(last, /Connection: close/)
  }
  const line = await recycled
  assertAccount(t, line)
  t.match(line, { moved: 0, closedAfterResponse: 3 })
  await talk(net.connect(port, '127.0.0.1')).say(`HELLO 4\r\n${GET}`)
  await supervisor.recycle(0)
  t.match(events.all('fleet.warning').filter(({ warning }) => warning === 'no-handoff'), [{ missing: /first bytes/ }])
  t.equal(events.all('worker.crash').length, 0)
})

t.test('an app with another version of the package: the fleet is told once, and its own worker API is what the app calls', async t => {
  const root = path.join(__dirname, '..', '..')
  const app = t.testdir({
    'package.json': '{}', // else Node finds this package itself
    'app.js': `
      const { onServe } = require('recycle-supervisor/worker')
      let slot = null
      onServe(about => { slot = about.slot })
      require('node:http').createServer((request, response) => response.end(String(slot))).listen(process.env.PORT)`,
    node_modules: { 'recycle-supervisor': { 'package.json': JSON.stringify({ name: 'recycle-supervisor', version: '0.0.9', exports: { './worker': './lib/worker/index.js' } }) } }
  })
  fs.cpSync(path.join(root, 'lib'), path.join(app, 'node_modules/recycle-supervisor/lib'), { recursive: true })
  const { port, supervisor, events } = await startFleet(t, path.join(app, 'app.js'), OPTIONS)
  await supervisor.reload()
  t.equal((await get(port)).body, '0')
  const { version } = require('../../package.json')
  t.match(events.all('fleet.warning'), [{ warning: 'copy', found: '0.0.9', version }])
  t.equal(events.all('fleet.warning').length, 1)
})

t.test('an app that closes its server on a drain: its clients get Connection: close', async t => {
  const { port, supervisor } = await startUnusual(t, 'closes')
  const load = new Load({ port, connections: 10 })
  await load.after(20)
  const line = await supervisor.recycle(0)
  assertAccount(t, line)
  t.ok(line.drainMs < 5000, `${line.drainMs} ms`)
  await load.stop() // the app itself closes idle connections at that moment, even if a request is on the way
})

t.test('a listener that throws while a moved connection comes in: no client gets the response of another', async t => {
  const file = path.join(t.testdir({}), 'throw')
  process.env.THROW = file
  const { port, supervisor } = await startUnusual(t, 'throws')
  const alice = talk(net.connect(port, '127.0.0.1'))
  await alice.say('GET /hello HTTP/1.1\r\nHost: x\r\n\r\n')
  fs.writeFileSync(file, '')
  await supervisor.recycle(0)
  await Promise.race([alice.say('GET /alice HTTP/1.1\r\nHost: x\r\n\r\n'), setTimeout(500)])
  fs.rmSync(file)
  const bob = talk(net.connect(port, '127.0.0.1'))
  const heard = await bob.say('GET /bob HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(heard, /\/bob \d+/)
  t.notMatch(heard, /alice/)
  alice.socket.destroy()
  bob.socket.destroy()
})

t.test('a TLS connection with half a request is not idle: the request is answered when the fleet stops', async t => {
  const { port, supervisor } = await startUnusual(t, 'tls', { stopLinger: '300ms' })
  const client = talk(tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }))
  await once(client.socket, 'secureConnect')
  client.socket.write('GET /half HTTP/1.1\r\nHo')
  await setTimeout(100)
  const stopped = supervisor.stop()
  await setTimeout(700)
  t.match(await client.say('st: x\r\n\r\n'), /\/half \d+/)
  await stopped
})

t.test('connections wait for a sibling that is busy for a while, and none is closed', async t => {
  const file = path.join(t.testdir({ stall: '' }), 'stall')
  fs.rmSync(file)
  process.env.STALL = file
  const { port, supervisor } = await startUnusual(t, 'stalls')
  const agents = Array.from({ length: 20 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
  t.teardown(() => agents.forEach(agent => agent.destroy()))
  const ask = () => Promise.all(agents.map(agent => get(port, '/', { agent })))
  await ask()
  fs.writeFileSync(file, '')
  const recycled = supervisor.recycle(0)
  const late = setTimeout(150).then(ask) // the first request blocks the new worker
  const line = await recycled
  t.match(line, { connections: 20, moved: 20 })
  for (const { status } of await late) t.equal(status, 200)
  for (const { status, reused } of /** @type {any[]} */ (await ask())) {
    t.match({ status, reused }, { status: 200, reused: true })
  }
})

t.test('an app that removes all SIGTERM listeners is not ended by a signal', async t => {
  const { port, supervisor } = await startUnusual(t, 'bare')
  const [{ pid }] = supervisor.status().workers
  process.kill(pid, 'SIGTERM')
  await setTimeout(300)
  t.match(await get(port, '/'), { status: 200, body: `/ ${pid}` })
})

t.test('a server that only probes the port does not make a worker ready', async t => {
  const { port, supervisor } = await startUnusual(t, 'probes')
  const load = new Load({ port, connections: 5 })
  await load.after(20)
  assertAccount(t, await supervisor.recycle(0))
  const { failures, sockets } = await load.stop()
  t.same(failures, [])
  t.equal(sockets, 5, 'no client ever reconnected')
})

for (const atExit of [false, true]) {
  t.test(`a unix socket whose file every worker deletes before it listens${atExit ? ', and as it exits' : ''} exists all the same`, async t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
    t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
    const socketPath = path.join(folder, 'app.sock')
    Object.assign(process.env, { SOCKET: socketPath, UNLINK_AT_EXIT: atExit ? '1' : '' })
    const { supervisor } = await startFleet(t, 'unlinks.js', { workers: 1 })
    // Two that boot at a time delete each other's file between listen() and chmod(), as they do without recycle
    await supervisor.scale(2)
    const ask = () => new Promise(resolve => http.get({ socketPath, agent: false }, response => {
      response.setEncoding('utf8').on('data', resolve)
    }).on('error', error => resolve(error)))
    await supervisor.reload()
    await setTimeout(100)
    t.match(await ask(), /^\d+$/)
    await supervisor.stop()
    t.same(fs.readdirSync(folder), [], 'nothing is left')
  })
}

t.test('an abstract unix socket', { skip: process.platform !== 'linux' }, async t => {
  const socketPath = `\0recycle-${process.pid}`
  process.env.WHERE = JSON.stringify({ path: socketPath })
  const { supervisor } = await startFleet(t, path.join('apps', 'somewhere.js'), { workers: 1 })
  const load = new Load({ socketPath, connections: 5 })
  await load.after(20)
  await supervisor.reload()
  t.same((await load.stop()).failures, [])
  await supervisor.stop()
})
