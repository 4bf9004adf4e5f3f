'use strict'

/** Quantiles, for confidence intervals. */

/**
 * Of Student's t distribution, by the expansion about the normal one (Abramowitz and Stegun 26.7.5). Good to a few per
 * cent from 8 degrees of freedom on.
 *
 * @param {number} p 0.5 to 1
 * @param {number} freedom degrees of freedom
 */
function studentQuantile (p, freedom) {
  const z = normalQuantile(p)
  const z2 = z * z
  return z * (1 +
    (z2 + 1) / (4 * freedom) +
    ((5 * z2 + 16) * z2 + 3) / (96 * freedom ** 2) +
    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * freedom ** 3))
}

/**
 * Of the normal distribution (Abramowitz and Stegun 26.2.23; the error is below 0.00045).
 *
 * @param {number} p 0.5 to 1
 */
function normalQuantile (p) {
  const t = Math.sqrt(-2 * Math.log(1 - p))
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
}

module.exports = { studentQuantile, normalQuantile }
