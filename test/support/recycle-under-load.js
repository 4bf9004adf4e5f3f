'use strict'

const { extent } = require('./campaign')
const { startFleet, sumOfEnds } = require('./fleet')
const { Load } = require('./load')

const RECYCLES = extent({ short: 3, long: 25 }) // in the suite each worker is recycled once

/**
 * Repeated recycles under load from four kinds of clients. No request fails, and every account adds up.
 *
 * @param {any} t tap's
 * @param {boolean} handoff
 */
function recycleUnderLoad (t, handoff) {
  for (const [name, how] of Object.entries({
    'keep-alive GETs': { keepAlive: true },
    'keep-alive 16 KB POSTs': { keepAlive: true, postBytes: 16 * 1024 },
    'a connection per GET': { keepAlive: false },
    'a connection per 16 KB POST': { keepAlive: false, postBytes: 16 * 1024 }
  })) {
    t.test(`recycling drops nothing: ${name}, ${handoff ? 'with' : 'without'} hand-off`, async (/** @type {any} */ t) => {
      const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 3, handoff })
      const load = new Load({ port, connections: 20, thinkMs: 0, ...how })
      for (let i = 0; i < RECYCLES; i++) {
        await load.after(50)
        await supervisor.recycle(i % 3)
      }
      const { requests, failures, sockets } = await load.stop()
      t.same(failures, [], `of ${requests} requests`)
      const recycles = events.all('recycled')
      t.equal(recycles.length, RECYCLES)
      if (handoff && how.keepAlive) t.equal(sockets, 20, 'no client ever reconnected')
      for (const recycled of recycles) {
        t.equal(recycled.cut, 0)
        t.equal(sumOfEnds(recycled), recycled.connections, 'the audit adds up')
      }
    })
  }
}

module.exports = { recycleUnderLoad }
