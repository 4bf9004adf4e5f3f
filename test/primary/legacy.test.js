'use strict'

const t = require('tap')
const { Legacy } = require('../../lib/primary/legacy')

/** @param {object} [deps] */
function legacyOf (deps) {
  /** @type {Record<string, any>[]} */
  const told = []
  const worker = { send: (/** @type {string} */ type, /** @type {any} */ fields) => told.push({ type, ...fields }) }
  const state = { survivors: { areLeft: true }, tenure: { hasBegun: true, isOver: false }, takeover: null }
  const fakes = { fleet: { all: () => [worker] }, features: { heirs: [] }, ...state }
  return { told, legacy: new Legacy(/** @type {any} */ ({ ...fakes, ...deps })) }
}

t.test('counts go on from what was told last, also where they have grown meanwhile; text is taken where there is none', async t => {
  const { legacy } = legacyOf()
  const counts = { moved: 2, by: { load: 1 }, slots: { 0: { recycles: 1, lastReason: 'rss' } } }
  legacy.count('moves', counts)
  const before = { moved: 10, by: { load: 4, death: 3 }, slots: { 0: { recycles: 5, lastReason: 'reload' }, 1: { recycles: 1, lastReason: 'reload' } } }
  legacy.inherit({ feature: 'moves', text: JSON.stringify(before) })
  counts.moved++
  const later = structuredClone(before)
  Object.assign(later, { moved: 11 })
  later.slots[1] = { recycles: 2, lastReason: 'upgrade' }
  legacy.inherit({ feature: 'moves', text: JSON.stringify(later) })
  t.same(counts, { moved: 14, by: { load: 5, death: 3 }, slots: { 0: { recycles: 6, lastReason: 'rss' }, 1: { recycles: 2, lastReason: 'upgrade' } } })
  legacy.inherit({ feature: 'of a later version', text: '{}' })
})

t.test('a worker is told what is kept, and the next primary goes on by it; the number of the tellings goes on, too', async t => {
  const old = legacyOf()
  old.legacy.count('moves', { moved: 3 })
  old.legacy.add('app-metrics', { bequeath: async () => 'large', inherit () {} })
  await old.legacy.tell()
  await old.legacy.tell()
  t.match(old.told, [{ type: 'legacy', number: 1 }, { type: 'legacy', number: 2 }])
  t.match(await old.legacy.bequeath(), [{ feature: 'tellings' }, { feature: 'moves' }, { feature: 'app-metrics' }])
  const next = legacyOf()
  const counts = { moved: 1 }
  next.legacy.count('moves', counts)
  next.legacy.add('app-metrics', { bequeath: async () => null, inherit: () => t.fail('it is not kept') })
  next.legacy.takeFrom(old.told[1].text)
  t.same(counts, { moved: 4 })
  await next.legacy.tell()
  t.match(next.told, [{ number: 3 }])
})

t.test('no worker is told that ends with its primary, is another primary\'s, or is to stop; and none more than fits: then counts begin anew', async t => {
  const others = [{ tenure: { hasBegun: false } }, { tenure: { hasBegun: true, isOver: true } }]
  for (const deps of [{ survivors: { areLeft: false } }, ...others]) {
    const { told, legacy } = legacyOf(deps)
    await legacy.tell()
    t.same(told, [])
  }
  const { told, legacy } = legacyOf()
  legacy.count('many', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, Math.random()])))
  await legacy.tell()
  t.ok(told[0].text.length < 20)
  legacyOf().legacy.takeFrom(told[0].text)
})

t.test('what has counted before is waited for: a dead primary\'s workers, or the primary that leaves, once for all that ask', async t => {
  const { legacy } = legacyOf()
  const asked = legacy.ask().then(() => 'known')
  t.equal(await Promise.race([asked, new Promise(resolve => setImmediate(resolve, 'waits'))]), 'waits')
  legacy.begin()
  t.equal(await asked, 'known')
  let asks = 0
  const { legacy: follows } = legacyOf({ takeover: { askLegacy: async () => { asks++ } } })
  await Promise.all([follows.ask(), follows.ask()])
  t.equal(asks, 1)
})
