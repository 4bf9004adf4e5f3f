'use strict'

const t = require('tap')
const { Settlement } = require('../../../lib/features/failover/settlement')

/** Settles so many connections, of which the kernel knows nothing any more. @param {number} count */
async function settle (count) {
  let [closed, turns, isOver] = [0, 0, false]
  const row = { serial: 1, deaths: 0 }
  const held = Array.from({ length: count }, () => ({ socket: { fd: -1, close: () => closed++ }, row, key: '3000' }))
  const kernel = { tenure: { isSole: true }, ledger: { isEnding: false }, options: { replay: 'safe' } }
  const settlement = new Settlement(
    /** @type {any} */ ({ kernel, addon: { bytesOf: () => undefined }, suspects: null }),
    /** @type {any} */ ({ process: { killedFor: null } }),
    /** @type {any} */ ({ read: () => held, close () {} })
  )
  /** @type {any} */
  let outcome = null
  const run = settlement.run(given => { outcome = given })
  const atOnce = outcome
  const look = () => setImmediate(() => { if (!isOver) { turns++; look() } })
  look()
  await run
  isOver = true
  return { closed, turns, atOnce, outcome }
}

t.test('the connections of a dead worker are settled some hundreds a turn; a few at once', async t => {
  t.match(await settle(500), { closed: 500, atOnce: { ended: 500 } })
  const { closed, turns, atOnce, outcome } = await settle(3000)
  t.match({ closed, atOnce, outcome }, { closed: 3000, atOnce: null, outcome: { ended: 3000 } })
  t.ok(turns >= 5, `${turns} turns`)
})
