'use strict'

/** No reason to replace a worker can replace one after the other without a pause, however soon each is condemned. */

const t = require('tap')
const fc = require('fast-check')
const { canWait, RecycleBackoff } = require('../../lib/tables/recycle-backoff')
const { REASONS, REPLACING } = require('../../lib/tables/reasons')
const { Rollout } = require('../../lib/primary/workers/rollout')

const HOUR_MS = 3600_000

/**
 * What makes the next recycle of a place wait, by the rule of a reason.
 *
 * @type {Record<string, (place: RecycleBackoff, reason: any, ageMs: number, now: number) => void>}
 */
const CONDEMN = {
  fresh: (place, _, __, now) => place.begun(true, now),
  soon: (place, reason, ageMs, now) => place.condemned(reason, ageMs, now),
  paced: (place, reason, ageMs, now) => place.condemned(reason, ageMs, now)
}

t.test('each rule is for some reason, and every reason has one of them', async t => {
  t.same([...new Set(REPLACING.map(reason => REASONS.get(reason)?.backoff))].sort(), [...Object.keys(CONDEMN), 'start'].sort())
})

for (const { reason, backoff } of [...REASONS.values()]) {
  if (!backoff || backoff === 'start') continue
  t.test(`${reason}: of workers that are each condemned as soon as they are looked at, few are replaced in an hour`, async t => {
    const most = backoff === 'paced' ? HOUR_MS / 1000 : 70
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 20 }), ages => {
      const place = new RecycleBackoff()
      let recycles = 0
      for (let now = 0; now < HOUR_MS; recycles++) {
        const ageMs = ages[recycles % ages.length]
        now += ageMs
        CONDEMN[backoff](place, reason, ageMs, now)
        if (place.notBefore <= now && ageMs < 900) return false
        now = Math.max(now, place.notBefore)
      }
      return recycles <= most + 1
    }), { numRuns: 30 })
  })
}

t.test('reload: each worker is replaced once, and a reload is over after three replacements that do not start', async t => {
  const rollout = new Rollout()
  const generation = rollout.begin(true)
  t.equal(rollout.requested(generation - 1), 'reload')
  t.equal(rollout.requested(generation), null)
  t.same([1, 2, 3].map(() => rollout.failed()), [false, false, true])
  t.equal(rollout.requested(generation - 1), null)
})

t.test('a worker that lasts ends the delays: it begins within its budget, or is condemned after a minute', async t => {
  const place = new RecycleBackoff()
  for (let i = 0; i < 5; i++) place.begun(true, 0)
  t.equal(place.notBefore, 4000)
  place.begun(false, 5000)
  t.equal(place.notBefore, 0)
  for (let i = 0; i < 5; i++) place.condemned('stuck', 1000, 0)
  t.equal(place.notBefore, 4000)
  place.condemned('stuck', 60_000, 100_000)
  t.equal(place.notBefore, 100_250)
})

t.test('a recycle waits for room in the memory where its worker serves well meanwhile', async t => {
  t.same(['rss', 'requests', 'age'].map(canWait), [true, true, true])
  t.same(['stuck', 'requested', 'reload', 'protocol-error', 'unheard of', null].map(canWait), [false, false, false, false, false, false])
})

t.test('by age or requests, a slot is recycled once a second; by its memory at once, unless it has had no request', async t => {
  const place = new RecycleBackoff()
  place.condemned('rss', 0, 1000)
  t.equal(place.notBefore, 0)
  place.condemned('requests', 400, 1000)
  t.equal(place.notBefore, 1600)
  place.condemned('rss', 0, 5000, true)
  t.equal(place.notBefore, 5250)
})
