'use strict'

const t = require('tap')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { Load } = require('../support/load')

for (const handoff of [true, false]) {
  for (const [name, how] of Object.entries({
    'keep-alive GETs': { keepAlive: true },
    'keep-alive 16 KB POSTs': { keepAlive: true, postBytes: 16 * 1024 },
    'a connection per GET': { keepAlive: false },
    'a connection per 16 KB POST': { keepAlive: false, postBytes: 16 * 1024 }
  })) {
    t.test(`recycling drops nothing: ${name}, ${handoff ? 'with' : 'without'} hand-off`, async t => {
      const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 3, handoff })
      const load = new Load({ port, connections: 20, ...how })
      for (let i = 0; i < 25; i++) {
        await load.after(50)
        await supervisor.recycle(i % 3)
      }
      const { requests, failures, sockets } = await load.stop()
      t.same(failures, [], `of ${requests} requests`)
      const recycles = events.all('recycled')
      t.equal(recycles.length, 25)
      if (handoff && how.keepAlive) t.equal(sockets, 20, 'no client ever reconnected')
      for (const recycled of recycles) {
        t.equal(recycled.cut, 0)
        t.equal(sumOfEnds(recycled), recycled.connections, 'the audit adds up')
      }
    })
  }
}
