'use strict'

/** Which of the requests that failed may have, as workers were killed. Pure. */

const { KINDS } = require('./clients')

const YOUNG_MS = 500 // a connection is covered by then, on a busy machine too
const NOTICED_MS = 500 // between a kill and what a client sees of it

/**
 * @param {import('./clients').Exchange[]} exchanges
 * @param {number[]} deaths when workers were killed, ms since the epoch
 * @returns {{ costs: Record<string, number>, violations: string[] }} `costs`: those that a kill may have
 */
function judge (exchanges, deaths) {
  /** @type {Record<string, number>} */
  const costs = {}
  /** @type {string[]} */
  const violations = []
  for (const { kind, startedAt, t, ageMs, outcome } of exchanges) {
    if (outcome === 'answered') continue
    const meanwhile = deaths.filter(at => at >= startedAt - NOTICED_MS && at <= t).length
    const may = meanwhile > 0 && (ageMs < YOUNG_MS || KINDS[kind].costs === 'anything' || (outcome === '502' && (KINDS[kind].costs === '502' || meanwhile > 1)))
    if (!may) violations.push(`${kind}: ${outcome} after ${t - startedAt} ms, on a connection of ${ageMs} ms; ${meanwhile} workers died meanwhile`)
    else costs[`${kind}: ${outcome}`] = (costs[`${kind}: ${outcome}`] ?? 0) + 1
  }
  return { costs, violations }
}

module.exports = { judge }
