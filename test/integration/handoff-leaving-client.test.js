'use strict'

const t = require('tap')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

const ROUNDS = 10
const CLIENTS = 20

// The point of a move at which a client leaves is random; each round leaves at another point of the recycle.
for (const [how, leave] of Object.entries({
  FIN: client => client.socket.end(),
  RST: client => client.socket.resetAndDestroy()
})) {
  t.test(`${ROUNDS * CLIENTS} clients that leave by ${how} during their move disturb no other client`, async t => {
    const { port, supervisor, events } = await startTellingFleet(t, 'exchanges.js')
    const staying = await RawClient.connect(port)
    await staying.fetch('/')
    for (let round = 0; round < ROUNDS; round++) {
      const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(port)))
      await Promise.all(clients.filter((_, i) => i % 4 > 0).map(client => client.fetch('/'))) // each fourth is silent
      const recycled = supervisor.recycle(0)
      await events.until('worker.drain', { count: round + 1 })
      for (const [i, client] of clients.entries()) {
        if (i % 2 === 0) await new Promise(setImmediate) // the moves continue meanwhile
        leave(client)
      }
      checkAccount(t, await recycled)
    }
    t.equal((await staying.fetch('/')).status, 200)
    t.equal(events.all('worker.crash').length, 0)
    const ends = events.all('recycled').reduce((sums, { moved, closedByClient }) =>
      ({ moved: sums.moved + moved, closedByClient: sums.closedByClient + closedByClient }),
    { moved: 0, closedByClient: 0 })
    t.comment(JSON.stringify(ends))
    t.ok(ends.moved > ROUNDS)
    const { totals } = supervisor.status()
    t.equal(totals.lost, 0)
    await staying.close()
  })
}
