'use strict'

const { extent } = require('./campaign')
const { startFleet, sumOfEnds } = require('./fleet')
const { Load } = require('./load')

const RECYCLES = extent({ short: 3, long: 25 }) // in the suite each worker is recycled once
const CONNECTIONS = extent({ short: 8, long: 20 })
const THINK_MS = extent({ short: 50, long: 0 })

/** @type {Record<string, { keepAlive: boolean, postBytes?: number }>} */
const KINDS = {
  'keep-alive GETs': { keepAlive: true },
  'keep-alive 16 KB POSTs': { keepAlive: true, postBytes: 16 * 1024 },
  'a connection per GET': { keepAlive: false },
  'a connection per 16 KB POST': { keepAlive: false, postBytes: 16 * 1024 }
}

/**
 * Repeated recycles under load from four kinds of clients, in the suite from all at the same time. No request fails,
 * and every account adds up.
 *
 * @param {any} t tap's
 * @param {boolean} handoff
 */
function recycleUnderLoad (t, handoff) {
  for (const kinds of extent({ short: [Object.keys(KINDS)], long: Object.keys(KINDS).map(kind => [kind]) })) {
    t.test(`recycling drops nothing: ${kinds.join(', ')}, ${handoff ? 'with' : 'without'} hand-off`, async (/** @type {any} */ t) => {
      const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 3, handoff })
      const loads = kinds.map(kind => ({
        kind, how: KINDS[kind], load: new Load({ port, connections: CONNECTIONS, thinkMs: THINK_MS, ...KINDS[kind] })
      }))
      for (let i = 0; i < RECYCLES; i++) {
        await Promise.all(loads.map(({ load }) => load.after(25)))
        await supervisor.recycle(i % 3)
      }
      for (const { kind, how, load } of loads) {
        const { requests, failures, sockets } = await load.stop()
        t.same(failures, [], `of ${requests} requests: ${kind}`)
        if (handoff && how.keepAlive) t.equal(sockets, CONNECTIONS, `no client ever reconnected: ${kind}`)
      }
      const recycles = events.all('recycled')
      t.equal(recycles.length, RECYCLES)
      for (const recycled of recycles) {
        t.equal(recycled.cut, 0)
        t.equal(sumOfEnds(recycled), recycled.connections, 'the audit adds up')
      }
    })
  }
}

module.exports = { recycleUnderLoad }
