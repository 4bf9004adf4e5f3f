'use strict'

/**
 * A worker that ends without an account of its connections: their requests are unknown, and no report calls the recycle
 * clean.
 */

const http = require('node:http')
const t = require('tap')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { becomesTrue } = require('../support/processes')
const { Figures } = require('../../lib/tools/report/figures')

/** @param {Record<string, any>[]} lines */
function reportOf (lines) {
  const figures = new Figures()
  for (const line of lines) figures.add(line)
  return figures.summary()
}

t.test('--no-failover: requests in the sockets of a worker that blocks beyond its drain deadline are in the account, as unknown connections', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 2, drainTimeout: '100ms', failover: false })
  const clients = await clientPerWorker(t, port, 2)
  const { slot, pid } = supervisor.status().workers[0]
  const agent = clients.get(pid)
  await get(port, '/', { agent })
  const since = Date.now() // by now it has heard that the other connections to it are closed
  await events.until('worker.sample', { where: line => line.pid === pid && line.t - line.silentMs > since && line.connections === 1 && line.inFlight === 0 })
  process.kill(pid, 'SIGUSR2')
  await events.until('worker.sample', { where: line => line.pid === pid && line.silentMs > 300 })
  const unread = get(port, '/', { agent })
  const recycled = await supervisor.recycle(slot)
  t.match(await unread, { error: 'ECONNRESET' })
  t.match(recycled, { oldPid: pid, connections: 1, inFlight: 0, cut: 0, unaccounted: 1, lost: true })
  t.equal(sumOfEnds(recycled), recycled.connections, 'the audit adds up')

  const { verdict, unaccounted } = reportOf(events.lines)
  t.same([verdict.ok, unaccounted], [false, 1])
  t.equal(verdict.text, '0 cut over 1 recycle; 1 connection unaccounted for: its requests are not known')
})

t.test('a worker that crashes at its first request had a connection, though none of its heartbeats has reported it', async t => {
  const { port, events } = await startFleet(t, 'misbehaves.js', { workers: 2, failover: false })
  t.same(events.all('worker.sample').filter(line => line.connections > 0), [])
  t.match(await get(port, '/exit'), { error: 'ECONNRESET' })
  t.match(await events.until('worker.crash'), { code: 3, connections: 1 })
  const { verdict, connectionsAtCrashes } = reportOf(events.lines)
  t.same([verdict.ok, connectionsAtCrashes], [false, 1])
})

t.test('connections handed over before a worker ends are not lost with it', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 1, failover: false })
  const idle = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => idle.destroy())
  await get(port, '/pid', { agent: idle })
  const cut = get(port, '/slow?ms=60000')
  const [{ pid }] = supervisor.status().workers
  await events.until('worker.sample', { where: line => line.connections === 2 && line.inFlight === 1 })
  const recycled = supervisor.recycle(0)
  await becomesTrue(() => supervisor.status().totals.moved === 1)
  process.kill(pid, 'SIGKILL')
  t.match(await recycled, { connections: 1, inFlight: 1, cut: 1, unaccounted: 0, lost: true, ended: 'crashed' })
  t.match(await cut, { error: 'ECONNRESET' })
  t.match(await get(port, '/', { agent: idle }), { status: 200 })
  t.match(events.all('worker.crash'), [{ pid, connections: 1, signal: 'SIGKILL', killedFor: null }])
  t.same(events.all('worker.retire'), [])
  t.match(reportOf(events.lines), { crashes: 1, crashesInDrains: 1, connectionsAtCrashes: 0, inFlightAtCrashes: 0, verdict: { ok: false, text: '1 cut over 1 recycle; 1 crash in a drain' } })
})
