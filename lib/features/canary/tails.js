'use strict'

/**
 * Tails of distributions: how likely a value, or a larger one, is by chance. Precise also far out, where 1 less the
 * rest would be 0.
 */

const MOST_STEPS = 100_000
const SMALL = 1e-15
const TINY = 1e-300

/**
 * Of Student's t distribution.
 * @param {number} t may be infinite @param {number} freedom degrees of freedom, above 0 @returns {number} P(T ≥ t)
 */
function studentTail (t, freedom) {
  if (Number.isNaN(t)) return 1
  const half = Number.isFinite(t) ? betaShare(freedom / (freedom + t * t), freedom / 2, 0.5) / 2 : 0
  return t >= 0 ? half : 1 - half
}

/**
 * Of the binomial distribution; between whole numbers of successes, by the beta distribution.
 * @param {number} successes 0 to tries @param {number} tries @param {number} p of a success, 0 to 1
 * @returns {number} P(X ≥ successes)
 */
function binomialTail (successes, tries, p) {
  if (successes <= 0 || p >= 1) return 1
  if (p <= 0) return 0
  return betaShare(p, successes, tries - successes + 1)
}

/**
 * The regularized incomplete beta function, by its continued fraction (modified Lentz).
 * @param {number} x 0 to 1 @param {number} a above 0 @param {number} b above 0 @returns {number} 0 to 1
 */
function betaShare (x, a, b) {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  return x < (a + 1) / (a + b + 2)
    ? Math.min(1, front * fraction(x, a, b) / a)
    : Math.max(0, 1 - front * fraction(1 - x, b, a) / b)
}

/** @param {number} x @param {number} a @param {number} b */
function fraction (x, a, b) {
  const away = (/** @type {number} */ value) => Math.abs(value) < TINY ? TINY : value
  let c = 1
  let d = 1 / away(1 - (a + b) * x / (a + 1))
  let product = d
  for (let step = 1; step <= MOST_STEPS; step++) {
    for (const term of [
      step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
      -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
    ]) {
      d = 1 / away(1 + term * d)
      c = away(1 + term / c)
      product *= c * d
    }
    if (Math.abs(c * d - 1) < SMALL) break
  }
  return product
}

/** By Stirling's series, from 10 on. @param {number} x above 0 @returns {number} ln Γ(x) */
function logGamma (x) {
  let shift = 0
  for (; x < 10; x++) shift += Math.log(x)
  const square = 1 / (x * x)
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) +
    (1 / 12 - (1 / 360 - (1 / 1260 - square / 1680) * square) * square) / x - shift
}

module.exports = { studentTail, binomialTail }
