'use strict'

/** What a listener of the app's throws costs that call, and nothing more. */

const t = require('tap')
const { startFleet } = require('../support/fleet')
const { beginDrain, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

/** @param {import('../support/fleet').Events} events @param {number} pid */
const thrownIn = ({ lines }, pid) => lines.filter(line => line.event === 'worker.threw' && line.pid === pid).map(({ where, error }) => `${where}: ${error}`).sort()

t.test('a listener that throws does not end its worker: a slow request is answered, and the journal tells', async t => {
  const fleet = await startFleet(t, 'throws.js', { workers: 1 })
  const { port, events } = fleet
  const clients = await Promise.all(Array.from({ length: 6 }, () => RawClient.connect(port)))
  for (const client of clients) client.get('/slow')
  const { pid, recycled } = await beginDrain(fleet)
  const responses = await Promise.all(clients.map(client => client.received(1)))
  t.ok(responses.every(([{ body }]) => String(body) === String(pid)), 'the worker that leaves has answered them')
  checkAccount(t, await recycled)
  t.same(events.all('worker.crash'), [])
  t.same(thrownIn(events, pid), ['onDrain: thrown at a promise of onDrain', 'onDrain: thrown at onDrain', 'onServe: thrown at onServe', 'recycle:drain: thrown at recycle:drain'])
  for (const client of clients) await client.close()
})

t.test('where the app handles uncaught exceptions it gets these; connections that have come in one batch are all served', async t => {
  process.env.HANDLED = '1'
  t.teardown(() => { delete process.env.HANDLED })
  const fleet = await startFleet(t, 'throws.js', { workers: 1, replayAfter: 0, drainTimeout: '5s', killTimeout: '1s' })
  const { port, events, told } = fleet
  const clients = await Promise.all(Array.from({ length: 40 }, () => RawClient.connect(port)))
  for (const client of clients) client.get('/poll')
  const { pid } = await told.until('parked', { count: clients.length })
  const { recycled } = await beginDrain(fleet)
  await Promise.all(clients.map(client => client.received(1)))
  for (const client of clients) t.equal((await client.fetch('/')).status, 200)
  checkAccount(t, await recycled)
  t.match(await recycled, { moved: clients.length, replayed: clients.length })
  t.same(events.all('worker.crash'), [])
  t.match(events.all('worker.retire').filter(line => line.pid === pid), [{ code: 0, signal: null }])
  for (const where of ['recycle:drain', 'onDrain', 'a promise of onDrain', 'onServe', 'connection']) await told.until('caught', { where: line => line.message === `thrown at ${where}` })
  const line = await events.until('worker.threw', { where: line => line.where === 'connection' })
  t.match(line, { slot: 0, error: 'thrown at connection' })
  t.ok(events.all('worker.threw').filter(line => line.pid === events.all('recycled')[0].pid).length <= 21, 'a worker that throws all the time does not fill the journal')
  for (const client of clients) await client.close()
})
