'use strict'

/**
 * Has the workers of a fleet of three collect their garbage, one after the other, under load.
 *
 * @param {any} supervisor
 * @param {{ after: (count: number) => Promise<void> }[]} loads
 * @param {number} count
 * @returns {Promise<string[]>} the reason of each collection that was refused
 */
async function collectAllAlong (supervisor, loads, count) {
  /** @type {string[]} */
  const refused = []
  for (let i = 0; i < count; i++) {
    await Promise.all(loads.map(load => load.after(20)))
    await supervisor.gc(i % 3).catch((/** @type {Error} */ error) => refused.push(error.message))
  }
  return refused
}

module.exports = { collectAllAlong }
