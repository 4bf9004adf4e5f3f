'use strict'

/** The configurations of examples/deploy/nginx and haproxy, in the real ones: rolling reloads behind them. */

const t = require('tap')
const { WebSocketClient } = require('../../bench/support/web-socket-client')
const { startNginx } = require('../../bench/support/nginx')
const { startAdmin } = require('../support/admin')
const { extent } = require('../support/campaign')
const { startHaproxy } = require('../support/haproxy')
const { Load } = require('../support/load')
const { lacking } = require('../support/program')

const RELOADS = extent({ short: 3, long: 20 })

/**
 * Clients of a proxy with GET and POST, keep-alive and not, while the fleet behind it is reloaded.
 *
 * @param {any} t @param {number} port @param {any} supervisor
 */
async function reloadBehind (t, port, supervisor) {
  const loads = [{}, { postBytes: 20_000 }, { path: '/slow?ms=300' }, { keepAlive: false, postBytes: 20_000 }].map(how => new Load({ port, connections: 5, ...how }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (let i = 0; i < RELOADS; i++) {
    await Promise.all(loads.map(load => load.after(10)))
    await supervisor.reload()
  }
  const counts = await Promise.all(loads.map(load => load.stop()))
  t.same(counts.flatMap(({ failures }) => failures), [], `${RELOADS} reloads, none of ${counts.reduce((sum, { requests }) => sum + requests, 0)} requests failed`)
  t.same(counts.slice(0, 3).map(({ sockets }) => sockets), [5, 5, 5], 'no client reconnected')
  t.equal(supervisor.status().totals.recycles, 2 * RELOADS)
}

/**
 * Clients of WebSockets that go to other workers.
 *
 * @param {any} t @param {number} port of the proxy @param {any} supervisor
 */
async function reloadWebSocketsBehind (t, port, supervisor) {
  const clients = await Promise.all(Array.from({ length: 10 }, () => WebSocketClient.connect(port)))
  t.teardown(() => { for (const client of clients) client.destroy() })
  const pids = new Set()
  const countsOf = () => Promise.all(clients.map(async client => {
    const [count, pid] = String(await client.send('m').next()).split(' ')
    pids.add(pid)
    return Number(count)
  }))
  for (let i = 0; i < RELOADS; i++) {
    t.same(await countsOf(), clients.map(() => i + 1))
    await supervisor.reload()
  }
  t.same(await countsOf(), clients.map(() => RELOADS + 1), 'each goes on counting')
  t.ok(pids.size > RELOADS)
}

t.test('behind nginx WebSockets stay open', { skip: lacking('nginx') }, async t => {
  const { port, supervisor } = await startAdmin(t, 'websockets.js', { workers: 2 })
  const nginx = await startNginx(port)
  t.teardown(() => nginx.stop())
  await reloadWebSocketsBehind(t, nginx.port, supervisor)
})

t.test('behind HAProxy WebSockets stay open', { skip: lacking('haproxy') }, async t => {
  const { port, adminPort, supervisor } = await startAdmin(t, 'websockets.js', { workers: 2 })
  await reloadWebSocketsBehind(t, await startHaproxy(t, { port, adminPort }), supervisor)
})

t.test('behind nginx no client sees a reload', { skip: lacking('nginx') }, async t => {
  const { port, supervisor } = await startAdmin(t, 'plain.js', { workers: 2 })
  const nginx = await startNginx(port)
  try {
    await reloadBehind(t, nginx.port, supervisor)
  } finally {
    t.same(await nginx.stop(), {}, 'nginx has logged no error')
  }
})

t.test('behind HAProxy no client sees a reload', { skip: lacking('haproxy') }, async t => {
  const { port, adminPort, supervisor } = await startAdmin(t, 'plain.js', { workers: 2 })
  await reloadBehind(t, await startHaproxy(t, { port, adminPort }), supervisor)
})
