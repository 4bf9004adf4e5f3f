'use strict'

/**
 * Why connections go from one worker to another: labels in `/metrics` and keys in `status()`, and what they are called.
 */

const { fromNames } = require('./fields')
const { grouped } = require('./units')

const MOVES = Object.freeze({
  leaving: 'from workers that left',
  rotation: 'from workers out of rotation',
  load: 'by load',
  number: 'to even them out',
  session: 'to their sessions',
  death: 'from workers that died',
  predecessor: 'from the primary before'
})

/** @typedef {keyof typeof MOVES} Move */

const REASONS = /** @type {Move[]} */ (Object.keys(MOVES))

const noMoves = () => fromNames(REASONS, () => 0)

/**
 * @param {Record<string, number>} moves by reason; those that are missing are none
 * @returns {string[]} '12 by load' for each reason that there was
 */
function sayMoves (moves) {
  return Object.entries(MOVES).flatMap(([reason, words]) =>
    moves[reason] > 0 ? [`${grouped(moves[reason])} ${words}`] : [])
}

/**
 * A worker that serves gives none of a session away, but for a request.
 * @param {{ isServing: boolean, state: string }} sender @param {{ session?: string, byLoad?: boolean }} parcel
 * @returns {Move} why it offers a connection
 */
function whyOffered ({ isServing, state }, { session, byLoad }) {
  if (!isServing) return state === 'out-of-rotation' ? 'rotation' : 'leaving'
  return session !== undefined ? 'session' : byLoad ? 'load' : 'number'
}

module.exports = { MOVES, noMoves, sayMoves, whyOffered }
