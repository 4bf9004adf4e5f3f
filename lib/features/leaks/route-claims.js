'use strict'

/**
 * Claims of a fit on each route: how many bytes its requests keep beyond those of other routes, with an interval that
 * holds for all routes at once.
 *
 * @typedef {{ bytes: number, low: number, high: number }} Claim for each request
 */

const { studentQuantile } = require('./quantile')

const DOUBT = 0.001 // that any route is named wrongly; it is looked at again and again

/**
 * In turn, the route that stands out most clearly is set apart, and is no
 * longer among those that the rest is compared with.
 *
 * @param {import('./trend-fit').Fit} fit its first slopes are the routes'
 * @param {number[]} requests by route
 * @param {(i: number) => number} garbageOf bytes of each request that may be garbage
 * @returns {(Claim | undefined)[]} by route
 */
function claims ({ slopes, isKnown, errorOf, freedom }, requests, garbageOf) {
  const others = new Set(requests.map((_, i) => i).filter(i => isKnown[i] && requests[i] > 0))
  const quantile = studentQuantile(1 - DOUBT / 4 / requests.length, freedom)
  const claim = (/** @type {number} */ i) => {
    const base = [...others].filter(other => other !== i)
    const total = base.reduce((sum, other) => sum + requests[other], 0)
    const weights = slopes.map((_, j) => j === i ? 1 : base.includes(j) ? -requests[j] / total : 0)
    const bytes = slopes.reduce((sum, slope, j) => sum + slope * weights[j], 0)
    const error = errorOf(weights)
    return {
      i, bytes, low: bytes - quantile * error - garbageOf(i), high: bytes + quantile * error, clearness: bytes / error
    }
  }
  const apart = []
  while (others.size > 2) {
    const [first] = [...others].map(claim).filter(({ low }) => low > 0).sort((a, b) => b.clearness - a.clearness)
    if (!first) break
    others.delete(first.i)
    apart.push(first.i)
  }
  if (others.size < 2 && apart.length === 0) return []
  const all = [...apart, ...others].map(claim)
  return requests.map((_, i) => all.find(one => one.i === i))
}

/**
 * @param {((Claim | undefined)[] | null | undefined)[]} ways @param {number} width
 * @returns {(Claim | undefined)[]} by route: the claim that says most
 */
function best (ways, width) {
  return Array.from({ length: width }, (_, i) =>
    ways.flatMap(claims => claims?.[i] ?? []).sort((a, b) => b.low - a.low)[0])
}

module.exports = { claims, best }
