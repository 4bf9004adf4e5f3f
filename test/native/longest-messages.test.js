'use strict'

/** What the shape of a message allows, the channel carries: as a batch, past the guard, to its handler. */

const t = require('tap')
const { MOST_CUTS, openAccount } = require('../../lib/core/account')
const { message } = require('../../lib/core/envelope')
const { FROM_WORKER, FROM_PRIMARY, flawOf } = require('../../lib/tables/message')
const { BATCHED, Batches } = require('../../lib/native/batches')
const { LONGEST } = require('../../lib/primary/workers/channel-guard')

const MORE_THAN_ONE_PACKET = 140
const LONG = 10_000

/** Of each long text in it also a value in which the others are empty. @param {any} value @returns {any[]} */
function variants (value) {
  /** @type {string[]} */
  const long = []
  JSON.stringify(value, (key, part) => {
    if (typeof part === 'string' && part.length > LONG) long.push(key)
    return part
  })
  const withOnly = (/** @type {string} */ kept) => JSON.parse(JSON.stringify(value, (key, part) => long.includes(key) && key !== kept ? '' : part))
  return [value, ...long.map(withOnly)]
}

for (const [kinds, from] of /** @type {const} */ ([[FROM_WORKER, 'a worker'], [FROM_PRIMARY, 'the primary']])) {
  for (const [type, kind] of Object.entries(kinds)) {
    if (type === 'batch') continue
    t.test(`the longest ${type} of ${from}`, async t => {
      const fields = kind.fields.longest?.()
      if (type === 'drained') fields.account = { ...openAccount(MOST_CUTS, 1), cut: MOST_CUTS, cuts: Array(MOST_CUTS).fill({ method: null, path: 'x'.repeat(2000), ageMs: 1, remotePort: 1, upgraded: false }) }
      for (const variant of variants(fields)) {
        const longest = message(type, variant)
        t.equal(flawOf(kinds, longest), null, 'it is valid by its shape')
        if (!BATCHED.has(type)) {
          t.ok(JSON.stringify(longest).length < LONGEST)
          continue
        }
        /** @type {{ messages: any[] }[]} */
        const sent = []
        const none = /** @type {any} */ (null)
        const send = (/** @type {any} */ batch) => { sent.push(batch) }
        const batches = new Batches({ addon: none, socket: none, send })
        for (let i = 0; i < MORE_THAN_ONE_PACKET; i++) batches.add({ message: longest, handle: undefined, sent () {} })
        batches.flush()
        t.equal(sent.reduce((sum, { messages }) => sum + messages.length, 0), MORE_THAN_ONE_PACKET)
        const [fullest] = sent.sort((a, b) => b.messages.length - a.messages.length)
        t.equal(flawOf(kinds, /** @type {any} */ (fullest)), null)
        t.ok(JSON.stringify(longest).length * fullest.messages.length < LONGEST, `${fullest.messages.length} at a time`)
      }
    })
  }
}
