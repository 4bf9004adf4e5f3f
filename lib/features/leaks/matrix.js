'use strict'

/** Symmetric positive definite matrices, as rows of numbers: enough for least squares. */

/**
 * @param {number[][]} matrix symmetric; only its lower half is read
 * @returns {number[][] | null} the lower triangle L of its Cholesky decomposition L·Lᵀ; null: it is not positive
 *   definite
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
function inverse (lower) {
  return lower.map((_, i) => solve(lower, lower.map((_, j) => i === j ? 1 : 0)))
}

module.exports = { cholesky, solve, inverse }
