'use strict'

/**
 * A ratio Σk / Σn over groups of what belongs together, such as the failed requests (k) and all requests (n) of each
 * connection, and how far it may be off. Requests of one connection are alike (its client repeats itself), so the
 * groups are what is independent, not the requests. Six sums are kept, not the groups.
 *
 * @typedef {object} Sums
 * @property {number} groups
 * @property {number} n Σn
 * @property {number} nn Σn²
 * @property {number} k Σk
 * @property {number} kk Σk²
 * @property {number} kn Σk·n
 */

const { addUp } = require('../../core/fields')

/** @returns {Sums} */
const noSums = () => ({ groups: 0, n: 0, nn: 0, k: 0, kk: 0, kn: 0 })

/** @param {Sums} sums changed @param {number} k @param {number} n */
function addGroup (sums, k, n) {
  sums.groups++
  sums.n += n
  sums.nn += n * n
  sums.k += k
  sums.kk += k * k
  sums.kn += k * n
}

/** @param {readonly Sums[]} all @returns {Sums} */
function poolSums (all) {
  const pooled = noSums()
  for (const sums of all) addUp(pooled, sums)
  return pooled
}

/** @param {Sums} later @param {Sums} earlier of the same worker @returns {Sums} of the groups that came between */
function sumsSince (later, earlier) {
  const since = noSums()
  for (const key of /** @type {(keyof Sums)[]} */ (Object.keys(since))) since[key] = later[key] - earlier[key]
  return since
}

/** @param {Sums} sums @returns {number} Σk / Σn; NaN: there is no n */
const ratioOf = ({ k, n }) => k / n

/**
 * @param {Sums} sums
 * @returns {number} the variance of the ratio, by how much groups differ (a ratio estimator); NaN: fewer than two
 *   groups
 */
function varianceOf ({ groups, n, nn, k, kk, kn }) {
  const ratio = k / n
  return groups < 2 ? NaN : Math.max(0, kk - 2 * ratio * kn + ratio * ratio * nn) / (n * n) * groups / (groups - 1)
}

module.exports = { noSums, addGroup, poolSums, sumsSince, ratioOf, varianceOf }
