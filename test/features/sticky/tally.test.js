'use strict'

const { Heard } = require('../../support/heard')
const t = require('tap')
const { parseSessionKey } = require('../../../lib/features/sticky/session')
const { hashOf } = require('../../../lib/features/sticky/rendezvous')
const { FleetTally } = require('../../../lib/features/sticky/fleet-tally')
const { Warnings } = require('../../../lib/primary/warnings')
const { Tally } = require('../../../lib/features/sticky/tally')

/**
 * What is warned of when each of these workers has had its requests, which name these sessions.
 *
 * @param {(string | null)[][]} workers @param {{ desired?: number, begun?: number, sticky?: string }} [how]
 */
function warned (workers, { desired = workers.length, begun = 0, sticky = 'cookie:sid' } = {}) {
  /** @type {any[]} */
  const lines = []
  const options = /** @type {any} */ ({ sticky: parseSessionKey(sticky) })
  /** @type {any} */
  const record = (/** @type {string} */ event, /** @type {any} */ fields) => lines.push({ event, ...fields })
  const primary = new FleetTally({ options, fleet: /** @type {any} */ ({ desired }), warnings: new Warnings(record) })
  const tallies = workers.map(() => {
    const handle = /** @type {any} */ (new Heard())
    primary.connect(handle)
    return new Tally(counts => handle.say('tally', counts))
  })
  for (const tally of tallies) for (let i = 0; i < begun; i++) tally.begin()
  for (let i = 0; workers.some(sessions => i < sessions.length); i++) {
    for (const [w, sessions] of workers.entries()) {
      if (i < sessions.length) tallies[w].count(sessions[i])
    }
  }
  return lines
}

/** @template Item @param {number} count @param {(i: number) => Item} of */
const list = (count, of) => Array.from({ length: count }, (_, i) => of(i))

t.test('requests none of which names a session are told once, with the sessions that responses have begun', async t => {
  t.same(warned([list(1000, () => null), list(8000, () => null)], { begun: 3 }), [{ event: 'fleet.warning', warning: 'sticky-none', by: 'cookie:sid', requests: 3000, begun: 6 }])
  t.same(warned([list(2999, () => null)]), [])
  t.same(warned([list(3000, i => i === 2000 ? 'a' : null)]), [])
})

t.test('one session that has nine in ten requests is told, whichever workers see them', async t => {
  const nearlyAll = list(3000, i => i % 20 === 0 ? `other ${i}` : '10.0.0.1')
  t.match(warned([nearlyAll, []], { sticky: 'ip' }), [{ warning: 'sticky-one', by: 'ip', requests: 3000, most: 2700 }])
  t.match(warned(list(3, () => nearlyAll.slice(0, 1000))), [{ warning: 'sticky-one', requests: 3000, most: 2700 }])
  t.same(warned([nearlyAll], { desired: 1 }), [], 'a single worker has them all anyway')
})

t.test('no other traffic is', async t => {
  t.same(warned(list(3, worker => list(3000, () => `of worker ${worker}`))), [], 'each worker has one')
  t.same(warned([list(9000, i => `${i}`), []]), [])
  t.same(warned([list(9000, i => i % 4 === 0 ? `${i}` : 'three quarters'), []]), [])
  t.equal(hashOf('a') === hashOf('b'), false)
})
