'use strict'

/**
 * Claims of a fit on each route: how many bytes its requests keep beyond those of other routes, with an interval that
 * holds for all routes at once.
 *
 * @typedef {{ bytes: number, low: number, high: number }} Claim for each request
 */

const DOUBT = 0.001 // that any route is named wrongly; it is looked at again and again

/**
 * In turn, the route that stands out most clearly is set apart, and is no
 * longer among those that the rest is compared with.
 * @param {import('./trend-fit').Fit} fit its first slopes are the routes' @param {number[]} requests by route
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

/** Quantiles, for confidence intervals. */

/**
 * Of Student's t distribution, by the expansion about the normal one (Abramowitz and Stegun 26.7.5). Good to a few per
 * cent from 8 degrees of freedom on.
 * @param {number} p 0.5 to 1 @param {number} freedom degrees of freedom
 */
function studentQuantile (p, freedom) {
  const z = normalQuantile(p)
  const z2 = z * z
  return z * (1 +
    (z2 + 1) / (4 * freedom) +
    ((5 * z2 + 16) * z2 + 3) / (96 * freedom ** 2) +
    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * freedom ** 3))
}

/** Of the normal distribution (Abramowitz and Stegun 26.2.23; error < 0.00045). @param {number} p 0.5 to 1 */
function normalQuantile (p) {
  const t = Math.sqrt(-2 * Math.log(1 - p))
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
}

module.exports = { claims, best, normalQuantile, studentQuantile }
