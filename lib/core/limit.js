'use strict'

/**
 * A limit of one figure, as a number or as a share of what there is at the most.
 *
 * @typedef {number | { readonly most: number } | { readonly share: number }} Limit `share`: 0 to 1
 */

/**
 * @param {Limit | null} limit null: none
 * @param {number | null | undefined} whole what there is at the most, for a share; null: not known
 * @returns {number | null} the figure that must not be exceeded; null: none, or not known
 */
function mostOf (limit, whole) {
  if (limit === null || typeof limit === 'number') return limit
  if ('most' in limit) return limit.most
  return typeof whole === 'number' ? limit.share * whole : null
}

/** @param {Limit | null} limit @param {number} factor 0 to 1 @returns {Limit | null} */
function lowered (limit, factor) {
  if (limit === null) return null
  if (typeof limit === 'number') return Math.max(1, Math.round(limit * factor))
  return Object.freeze('most' in limit
    ? { most: Math.max(1, Math.round(limit.most * factor)) }
    : { share: limit.share * factor })
}

module.exports = { mostOf, lowered }
