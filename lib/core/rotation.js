'use strict'

/**
 * Which workers leave the rotation, and return. A worker wants out because its app says so, or because a feature finds
 * it unfit. The last one in rotation stays, and where none is left one is called back: a service that is slow or ill is
 * better than none.
 *
 * @typedef {object} Member a worker that serves
 * @property {string | null} wish why it is to be out; null: it is to be in
 * @property {number | null} outSince when it left: ms; null: it is in
 */

/**
 * @template {Member} Kind @param {readonly Kind[]} members
 * @returns {{ out: Kind[], back: Kind[], kept: Kind[] }} those that leave now, that return now, and that want out and
 *   stay in for want of others
 */
function rotate (members) {
  const inside = members.filter(({ outSince }) => outSince === null)
  const outside = members.filter(({ outSince }) => outSince !== null)
  const back = outside.filter(({ wish }) => wish === null)
  const wanting = inside.filter(({ wish }) => wish !== null)
  if (inside.length + back.length > wanting.length) return { out: wanting, back, kept: [] }
  if (wanting.length > 0) return { out: wanting.slice(1), back, kept: wanting.slice(0, 1) }
  return { out: [], back: outside.sort((a, b) => Number(a.outSince) - Number(b.outSince)).slice(0, 1), kept: [] }
}

module.exports = { rotate }
