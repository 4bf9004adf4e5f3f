'use strict'

const fc = require('fast-check')
const t = require('tap')
const { claims, best } = require('../../../lib/features/leaks/route-claims')

const MANY = 1e6 // degrees of freedom: the normal distribution

/**
 * A fit whose slopes err independently.
 *
 * @param {number[]} slopes @param {{ errors?: number[], isKnown?: boolean[] }} [how]
 * @returns {import('../../../lib/features/leaks/trend-fit').Fit}
 */
function fit (slopes, { errors = slopes.map(() => 1), isKnown = slopes.map(() => true) } = {}) {
  return {
    slopes, isKnown, errorOf: weights => Math.hypot(...weights.map((weight, i) => weight * errors[i])), freedom: MANY
  }
}

const none = () => 0
/** @param {(import('../../../lib/features/leaks/route-claims').Claim | undefined)[]} found */
const bytesOf = found => found.map(claim => claim === undefined ? null : Math.round(claim.bytes * 1000) / 1000)

t.test('a route is compared with the mean request of the others', async t => {
  t.same(bytesOf(claims(fit([7, 5]), [10, 1000], none)), [2, -2])
  const even = fit([20, 10, 30], { errors: [99, 99, 99] }) // none stands out
  t.same(bytesOf(claims(even, [1, 30, 10], none)), [20 - 600 / 40, 10 - 320 / 11, 30 - 320 / 31].map(bytes =>
    Math.round(bytes * 1000) / 1000))
})

t.test('the interval holds for all routes at once, one time in a thousand not', async t => {
  for (const [routes, normal] of [[2, 3.6623], [3, 3.7653], [10, 4.0556]]) { // of 1 - 0.001 / 4 / routes
    const found = claims(fit(Array(routes).fill(3), { errors: [6, ...Array(routes - 1).fill(0)] }), Array(routes)
      .fill(10), none)
    const { bytes, low, high } = /** @type {import('../../../lib/features/leaks/route-claims').Claim} */ (found[0])
    t.ok(Math.abs((high - bytes) / 6 - normal) < 0.005 && Math.abs((bytes - low) / 6 - normal) < 0.005, `${routes} routes: ${(high - bytes) / 6}`)
  }
})

t.test('what may be garbage is taken off the least that a route keeps', async t => {
  const [clean, dirty] = [none, (/** @type {number} */ i) => i === 0 ? 40 : 0].map(garbage =>
    claims(fit([100, 0, 0]), [1, 1, 1], garbage)[0])
  t.equal(dirty?.low, Number(clean?.low) - 40)
  t.equal(dirty?.high, clean?.high)
  t.equal(dirty?.bytes, clean?.bytes)
})

t.test('a route that stands out is not among those that the rest is compared with', async t => {
  t.same(bytesOf(claims(fit([100, 100, 0, 0]), [1, 1, 1, 1], none)), [100, 100, 0, 0], 'two leak')
  t.same(bytesOf(claims(fit([1, 100, 1]), [1, 1, 1], none)), [0, 99, 0])
  t.same(bytesOf(claims(fit([2, 0, 0]), [1, 1, 1], none)), [2, -1, -1], 'within the error none does')
  t.same(bytesOf(claims(fit([1000, 900, 0], { errors: [100, 0, 0] }), [1, 1, 1], none)), [1000, 400, -1000], 'the clearest, not the largest, first: the last two are compared')
  t.same(bytesOf(claims(fit([90, 60, 0, 0], { errors: [0, 0, 0, 0] }), [1, 1, 1, 1], none)), [90, 60, 0, 0], 'without an error, too')
  t.same(bytesOf(claims(fit([0.5, 0.5, 0, 0], { errors: [0, 0, 0, 0] }), [1, 1, 1, 1], none)), [0.5, 0.5, 0, 0], 'however little it keeps')
})

t.test('whichever routes leak, each of them and of the others keeps what its slope says', async t => {
  const leaks = fc.array(fc.boolean(), { minLength: 5, maxLength: 9 })
    .filter(list => list.filter(leak => !leak).length >= 3)
  fc.assert(fc.property(leaks, fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 9, maxLength: 9 }),
    fc.integer({ min: -50, max: 50 }), (list, requests, all) => {
      const found = claims(fit(list.map(leak => all + (leak ? 1e5 : 0))), requests.slice(0, list.length), none)
      return found.every((claim, i) =>
        claim !== undefined && Math.abs(claim.bytes - (list[i] ? 1e5 : 0)) < 1e-6 && (claim.low > 0) === list[i])
    }), { numRuns: 200, seed: 3 })
  t.pass()
})

t.test('of a route that is not known, or has had no request, nothing is said, nor is another compared with it', async t => {
  t.same(bytesOf(claims(fit([20, 10, 900], { isKnown: [true, true, false] }), [1, 1, 5], none)), [10, -10, null])
  t.same(bytesOf(claims(fit([20, 10, 900]), [1, 1, 0], none)), [10, -10, null])
  t.same(claims(fit([20]), [1], none), [], 'one alone has nothing to be compared with')
  t.same(claims(fit([20, 10], { isKnown: [true, false] }), [1, 1], none), [])
})

t.test('of several ways to know it the one counts that says most, route by route', async t => {
  const [low, high] = [{ bytes: 5, low: 1, high: 9 }, { bytes: 4, low: 2, high: 6 }]
  t.same(best([[low, high, undefined], null, [high, low, undefined], undefined], 4), [high, high, undefined, undefined])
  t.same(best([null], 1), [undefined])
})
