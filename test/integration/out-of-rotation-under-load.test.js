'use strict'

const t = require('tap')
const { collectAllAlong } = require('../support/collecting')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

const COLLECTIONS = 6

t.test('plain HTTP/1: collections out of rotation under load, and no client fails, reconnects, or waits for a collection', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { workers: 3, args: ['--objects=100000'] })
  const loads = [new Load({
    port, connections: 12, thinkMs: 0
  }), new Load({ port, connections: 8, thinkMs: 0, postBytes: 16 * 1024 }), new Load({ port, connections: 12 })]
  t.same(await collectAllAlong(supervisor, loads, COLLECTIONS), [])
  for (const load of loads) {
    const { requests, failures, sockets } = await load.stop()
    t.same(failures, [], `of ${requests}`)
    t.equal(sockets, load.clients.length, 'no client reconnected')
  }
  t.equal(events.all('collected').length, COLLECTIONS)
  t.ok(events.all('collected').reduce((sum, line) => sum + line.moved, 0) > COLLECTIONS)
  await told.until('collection', { count: COLLECTIONS }) // a PerformanceObserver is called in a later turn of the loop
  t.same(told.all('collection').filter(message => message.sockets > 0), [], 'no connection was open that could have waited')
})

t.test('a connection per request', async t => {
  const { port, supervisor, told } = await startFleet(t, 'memory.js', { workers: 3 })
  const load = new Load({ port, connections: 12, keepAlive: false, thinkMs: 0 })
  t.same(await collectAllAlong(supervisor, [load], COLLECTIONS), [])
  const { requests, failures } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.same(told.all('collection').filter(message => message.sockets > 0), [])
})
