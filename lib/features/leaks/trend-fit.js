'use strict'

/**
 * Robust least squares over several series of levels, such as the memory of several workers over their lives:
 *
 *     increment of the level = Σ slope × increment of the regressor + noise
 *
 * Increments, because levels near one another in time err alike: plain least squares of levels would take them for many
 * confirmations of the same error. What the slopes leave over is bounded, as by Huber: a jump, say of compiled code or
 * of a table that doubles, counts as one large error. The errors of the slopes are the larger of two: by the size of
 * what is left over, and by how much stretches of the series disagree (a sandwich estimator by blocks), which also
 * holds where one increment has to do with the next.
 *
 * @typedef {object} Series
 * @property {number[]} levels 2 or more
 * @property {number[][]} regressors for each level, one value for each slope
 *
 * @typedef {object} Fit
 * @property {number[]} slopes
 * @property {boolean[]} isKnown false: this regressor cannot be told from the others, or does not change
 * @property {(weights: number[]) => number} errorOf standard error of a weighted sum of slopes
 * @property {number} freedom degrees of freedom that are left
 *
 * @typedef {{ rows: number[][], values: number[] }} Part the increments of a series
 */

const STEPS = 10
const BOUND = 1.5 // standard errors
const BLOCK = 12 // increments
const ALIKE = 1e7 // a regressor is alike where the others explain all of its variance but one part in so many
const RIDGE = 1e-10 // of the variance: keeps what is exactly alike solvable
const FEWEST_LEFT = 8

/** @param {Series[]} series @param {number} width how many slopes @returns {Fit | null} null: too few levels */
function fitTrend (series, width) {
  const parts = series.map(incrementsOf)
  const freedom = sumOf(parts, ({ values }) => values.length) - width
  if (freedom < FEWEST_LEFT) return null
  const scales = Array.from({ length: width }, (_, i) =>
    Math.sqrt(sumOf(parts, ({ rows }) => sumOf(rows, row => row[i] ** 2))) || 1)
  for (const { rows } of parts) for (const row of rows) for (let i = 0; i < width; i++) row[i] /= scales[i]
  const fit = fitBounded(parts, width)
  return {
    slopes: fit.slopes.map((slope, i) => slope / scales[i]),
    isKnown: fit.inverted.map((row, i) => row[i] < ALIKE),
    errorOf: errorsBy(parts, fit, scales, freedom),
    freedom
  }
}

/** @param {Series} series @returns {Part} */
function incrementsOf ({ levels, regressors }) {
  return {
    values: levels.slice(1).map((level, at) => level - levels[at]),
    rows: regressors.slice(1).map((row, at) => row.map((value, i) => value - regressors[at][i]))
  }
}

/**
 * The slopes by the method of modified residuals: least squares, again and again, of the values with their distance
 * from the last fit bounded.
 * @param {Part[]} parts @param {number} width
 */
function fitBounded (parts, width) {
  const normal = Array.from({ length: width }, () => new Array(width).fill(0))
  for (const { rows } of parts) {
    for (const row of rows) {
      for (let i = 0; i < width; i++) for (let j = 0; j <= i; j++) normal[i][j] += row[i] * row[j]
    }
  }
  for (let i = 0; i < width; i++) normal[i][i] += RIDGE
  const lower = /** @type {number[][]} */ (cholesky(normal))
  const inverted = inverse(lower)
  let modified = parts.map(({ values }) => values)
  let slopes = new Array(width).fill(0)
  /** @type {number[][]} */
  let left = []
  let most = 0
  for (let step = 0; step < STEPS; step++) {
    const right = new Array(width).fill(0)
    parts.forEach(({ rows }, s) => rows.forEach((row, at) => {
      for (let i = 0; i < width; i++) right[i] += row[i] * modified[s][at]
    }))
    const before = slopes
    slopes = solve(lower, right)
    const fitted = parts.map(({ rows }) => rows.map(row => dot(row, slopes)))
    left = parts.map(({ values }, s) => values.map((value, at) => value - fitted[s][at]))
    const scale = medianOf(left.flat().map(Math.abs)) / 0.6745
    most = BOUND * scale
    if (scale === 0 || (step > 0 &&
      slopes.every((slope, i) => Math.abs(slope - before[i]) <= 0.01 * scale * Math.sqrt(inverted[i][i])))) break
    modified = fitted.map((values, s) => values.map((value, at) => value + bounded(left[s][at], most)))
  }
  return { slopes, inverted, left, most }
}

/**
 * @param {Part[]} parts @param {ReturnType<typeof fitBounded>} fit @param {number[]} scales @param {number} freedom
 * @returns {Fit['errorOf']}
 */
function errorsBy (parts, { inverted, left, most }, scales, freedom) {
  /** The sums of bounded error × regressor, by blocks. @type {number[][]} */
  const scores = []
  let square = 0
  let inside = 0
  let count = 0
  parts.forEach(({ rows }, s) => {
    const blocks = Math.max(1, Math.round(rows.length / BLOCK))
    rows.forEach((row, at) => {
      if (at === 0 || Math.floor(at * blocks / rows.length) !== Math.floor((at - 1) * blocks / rows.length)) {
        scores.push(row.map(() => 0))
      }
      const error = bounded(left[s][at], most)
      const score = scores[scores.length - 1]
      for (let i = 0; i < row.length; i++) score[i] += row[i] * error
      square += error ** 2
      if (Math.abs(left[s][at]) <= most) inside++
      count++
    })
  })
  const share = Math.max(0.1, inside / count)
  const variance = square / freedom / share ** 2
  const correction = scores.length > 1 ? scores.length / (scores.length - 1) / share ** 2 : 0
  return weights => {
    const scaled = weights.map((weight, i) => weight / scales[i])
    const direction = inverted.map(row => dot(row, scaled))
    return Math.sqrt(
      Math.max(variance * dot(scaled, direction), correction * sumOf(scores, score => dot(score, direction) ** 2))
    )
  }
}

/** @param {number} value @param {number} most */
const bounded = (value, most) => Math.min(most, Math.max(-most, value))

/** @param {number[]} a @param {number[]} b */
function dot (a, b) {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}

/** @param {number[]} values */
const medianOf = values => values.sort((a, b) => a - b)[values.length >> 1]

/** @template Item @param {readonly Item[]} items @param {(item: Item, at: number) => number} of */
const sumOf = (items, of) => items.reduce((sum, item, at) => sum + of(item, at), 0)

/** Symmetric positive definite matrices, as rows of numbers: enough for least squares. */

/**
 * @param {number[][]} matrix symmetric; only its lower half is read
 * @returns {number[][] | null} the lower triangle L of its Cholesky decomposition L·Lᵀ; null: not positive definite
 */
function cholesky (matrix) {
  const size = matrix.length
  const lower = matrix.map(row => new Array(row.length).fill(0))
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i][j]
      for (let k = 0; k < j; k++) sum -= lower[i][k] * lower[j][k]
      if (i !== j) lower[i][j] = sum / lower[j][j]
      else if (sum > 0) lower[i][i] = Math.sqrt(sum)
      else return null
    }
  }
  return lower
}

/** @param {number[][]} lower of cholesky() @param {number[]} right @returns {number[]} x of L·Lᵀ·x = right */
function solve (lower, right) {
  const size = lower.length
  const x = [...right]
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) x[i] -= lower[i][k] * x[k]
    x[i] /= lower[i][i]
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) x[i] -= lower[k][i] * x[k]
    x[i] /= lower[i][i]
  }
  return x
}

/** @param {number[][]} lower of cholesky() @returns {number[][]} the inverse of L·Lᵀ */
const inverse = lower => lower.map((_, i) => solve(lower, lower.map((_, j) => i === j ? 1 : 0)))

module.exports = { fitTrend, cholesky, inverse, solve }
