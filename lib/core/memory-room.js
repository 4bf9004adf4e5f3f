'use strict'

/**
 * How much room the container's memory leaves: how soon to look again, and how many replacements fit beside the fleet.
 *
 * @typedef {object} Memory
 * @property {number} limitBytes @property {number} usedBytes
 * @property {number | null} freshBytes what one more worker takes: the most that a worker in service had when it was
 *   new; null: not known
 */

const NEAR = 0.9
const NOT_NEAR = 0.8
const SHORTEST_MS = 50
const BOOTING = 1.25 // what a worker takes while it loads the app, of what it has then

/**
 * Close to the limit the guard looks more often: a worker is then condemned by samples of a shorter time.
 * @param {Memory | null} memory @param {number} intervalMs @returns {number} ms
 */
function nextLookMs (memory, intervalMs) {
  const share = memory === null ? 0 : memory.usedBytes / memory.limitBytes
  const part = share >= NEAR ? 4 : share >= NOT_NEAR ? 2 : 1
  return Math.max(Math.min(SHORTEST_MS, intervalMs), Math.round(intervalMs / part))
}

/** From 90 % of the limit on, until less than 80 % are used. @param {Memory} memory @param {boolean} wasNear */
const isNearLimit = ({ usedBytes, limitBytes }, wasNear) => usedBytes >= (wasNear ? NOT_NEAR : NEAR) * limitBytes

/**
 * @param {Memory | null} memory
 * @param {number} booting processes that load the app at the moment, and have not taken all of their memory
 * @returns {number} how many more may start; Infinity: nothing is known of the memory
 */
function startsThatFit (memory, booting) {
  if (memory === null || memory.freshBytes === null) return Infinity
  const { limitBytes, usedBytes, freshBytes } = memory
  return Math.max(0, Math.floor((limitBytes - usedBytes) / (BOOTING * freshBytes)) - booting)
}

module.exports = { BOOTING, nextLookMs, isNearLimit, startsThatFit }
