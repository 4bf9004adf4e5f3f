'use strict'

/**
 * Robust least squares over several series of levels, such as the memory of several workers over their lives:
 *
 *     level = intercept of its series + Σ slope × regressor + noise
 *
 * Levels near one another in time err alike, and plain least squares would take them for many confirmations of the same
 * error. So the noise is taken to follow from the noise before it (AR(1), as by Prais and Winsten): its correlation is
 * estimated, and levels and regressors are rid of it. At a correlation near 1 that is a regression of the increments. What
 * is left over is bounded, as by Huber: a jump, say of compiled code or of a table that doubles, counts as one large error.
 * The covariance is the larger of two: by the size of what is left over, and by how much stretches of the series disagree
 * (a sandwich estimator by blocks), which also holds where the noise is of another kind.
 *
 * @typedef {object} Series
 * @property {number[]} levels 3 or more
 * @property {number[][]} regressors for each level, one value for each slope
 *
 * @typedef {object} Fit
 * @property {number[]} slopes
 * @property {boolean[]} isKnown false: this regressor cannot be told from the others, or is constant
 * @property {(weights: number[]) => number} errorOf standard error of a weighted sum of slopes
 * @property {number} freedom degrees of freedom that are left
 */

const { cholesky, inverse, solve } = require('./matrix')

const ROUNDS = 4
const STEPS = 30
const MOST_CORRELATED = 0.98
const BOUND = 1.5 // standard errors
const BLOCK = 12 // levels
const ALIKE = 1e7 // a regressor is alike where the others explain all of its variance but one part in so many
const RIDGE = 1e-10 // of the variance: keeps what is exactly alike solvable
const FEWEST_LEFT = 8

/** @param {Series[]} series @param {number} width how many slopes @returns {Fit | null} null: too few levels */
function fitTrend (series, width) {
  const freedom = sumOf(series, ({ levels }) => levels.length - 1) - width - 1
  if (freedom < FEWEST_LEFT) return null
  let correlation = 0
  let whitened = whiten(series, width, correlation)
  let fit = fitBounded(whitened)
  for (let round = 0; round < ROUNDS; round++) {
    const next = correlationOf(series, fit.slopes)
    if (Math.abs(next - correlation) < 0.005) break
    correlation = next
    whitened = whiten(series, width, correlation)
    fit = fitBounded(whitened)
  }
  const { slopes, isKnown } = fit
  return { slopes, isKnown, errorOf: errorsBy(whitened, fit, freedom), freedom }
}

/**
 * Rids the series of the correlation and of their intercepts.
 *
 * @param {Series[]} series @param {number} width @param {number} correlation
 */
function whiten (series, width, correlation) {
  const first = Math.sqrt(1 - correlation ** 2)
  const scales = new Array(width).fill(0)
  const parts = series.map(({ levels, regressors }) => {
    const intercept = levels.map((_, at) => at === 0 ? first : 1 - correlation)
    const square = sumOf(intercept, value => value ** 2)
    /** @param {number[]} values @returns {number[]} the part of them that the intercept explains */
    const explained = values => {
      const part = sumOf(values, (value, at) => value * intercept[at]) / square
      return intercept.map(value => value * part)
    }
    const values = levels.map((level, at) => at === 0 ? first * level : level - correlation * levels[at - 1])
    const rows = levels.map(() => new Array(width).fill(0))
    for (let i = 0; i < width; i++) {
      const column = regressors.map((row, at) => at === 0 ? first * row[i] : row[i] - correlation * regressors[at - 1][i])
      const without = explained(column)
      for (let at = 0; at < rows.length; at++) scales[i] += (rows[at][i] = column[at] - without[at]) ** 2
    }
    return { values, rows, explained }
  })
  for (let i = 0; i < width; i++) scales[i] = Math.sqrt(scales[i]) || 1
  for (const { rows } of parts) for (const row of rows) for (let i = 0; i < width; i++) row[i] /= scales[i]
  return { parts, scales, width }
}

/**
 * The slopes by the method of modified residuals: least squares, again and again, of the values with their distance from the
 * last fit bounded.
 *
 * @param {ReturnType<typeof whiten>} whitened
 */
function fitBounded ({ parts, scales, width }) {
  const normal = Array.from({ length: width }, () => new Array(width).fill(0))
  for (const { rows } of parts) {
    for (const row of rows) {
      for (let i = 0; i < width; i++) for (let j = 0; j <= i; j++) normal[i][j] += row[i] * row[j]
    }
  }
  for (let i = 0; i < width; i++) normal[i][i] = (normal[i][i] || 1) + RIDGE
  const lower = /** @type {number[][]} */ (cholesky(normal))
  const inverted = inverse(lower)
  let modified = parts.map(({ values }) => values)
  let slopes = new Array(width).fill(0)
  /** @type {number[][]} */
  let left = []
  let scale = 0
  for (let step = 0; step < STEPS; step++) {
    const right = new Array(width).fill(0)
    parts.forEach(({ rows }, s) => rows.forEach((row, at) => {
      for (let i = 0; i < width; i++) right[i] += row[i] * modified[s][at]
    }))
    const before = slopes
    slopes = solve(lower, right)
    const fitted = parts.map(({ rows, explained }, s) => explained(modified[s]).map((value, at) => value + dot(rows[at], slopes)))
    left = parts.map(({ values }, s) => values.map((value, at) => value - fitted[s][at]))
    scale = medianOf(left.flat().map(Math.abs)) / 0.6745
    const most = BOUND * scale
    if (scale === 0 || (step > 0 && slopes.every((slope, i) => Math.abs(slope - before[i]) <= 0.01 * scale * Math.sqrt(inverted[i][i])))) break
    modified = fitted.map((values, s) => values.map((value, at) => value + Math.min(most, Math.max(-most, left[s][at]))))
  }
  return { slopes: slopes.map((slope, i) => slope / scales[i]), isKnown: inverted.map((row, i) => row[i] < ALIKE), inverted, left, most: BOUND * scale }
}

/** Of each level's noise with that of the level before it. @param {Series[]} series @param {number[]} slopes */
function correlationOf (series, slopes) {
  let product = 0
  let square = 0
  for (const { levels, regressors } of series) {
    const left = levels.map((level, at) => level - dot(regressors[at], slopes))
    const mean = sumOf(left, value => value) / left.length
    for (let at = 1; at < left.length; at++) {
      product += (left[at] - mean) * (left[at - 1] - mean)
      square += (left[at - 1] - mean) ** 2
    }
  }
  return square > 0 ? Math.min(MOST_CORRELATED, Math.max(0, product / square)) : 0
}

/**
 * @param {ReturnType<typeof whiten>} whitened
 * @param {ReturnType<typeof fitBounded>} fit
 * @param {number} freedom
 * @returns {Fit['errorOf']}
 */
function errorsBy ({ parts, scales, width }, { inverted, left, most }, freedom) {
  /** The sums of bounded error × regressor, by blocks. @type {number[][]} */
  const scores = []
  let square = 0
  let inside = 0
  let count = 0
  parts.forEach(({ rows }, s) => {
    const blocks = Math.max(1, Math.round(rows.length / BLOCK))
    rows.forEach((row, at) => {
      if (at === 0 || Math.floor(at * blocks / rows.length) !== Math.floor((at - 1) * blocks / rows.length)) scores.push(new Array(width).fill(0))
      const error = Math.min(most, Math.max(-most, left[s][at]))
      const score = scores[scores.length - 1]
      for (let i = 0; i < width; i++) score[i] += row[i] * error
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
    return Math.sqrt(Math.max(variance * dot(scaled, direction), correction * sumOf(scores, score => dot(score, direction) ** 2)))
  }
}

/** @param {number[]} a @param {number[]} b */
function dot (a, b) {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}

/** @param {number[]} values */
function medianOf (values) {
  return values.sort((a, b) => a - b)[values.length >> 1]
}

/** @template Item @param {readonly Item[]} items @param {(item: Item, at: number) => number} of */
function sumOf (items, of) {
  return items.reduce((sum, item, at) => sum + of(item, at), 0)
}

module.exports = { fitTrend }
