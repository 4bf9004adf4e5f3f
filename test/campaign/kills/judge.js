'use strict'

/** Which of the requests that failed may have, as workers were killed. Pure. */

const { KINDS } = require('./clients')

const YOUNG_MS = 500 // after which a connection is covered at a death, on a busy machine too
const SLACK_MS = 500 // between a death and what a client, or the journal, has of it

/**
 * @param {import('./clients').Exchange[]} exchanges
 * @param {Record<string, any>[]} crashes lines of the log
 * @returns {{ costs: Record<string, number>, violations: string[] }} `costs`: those that a kill may have
 */
function judge (exchanges, crashes) {
  /** @type {Record<string, number>} */
  const costs = {}
  /** @type {string[]} */
  const violations = []
  for (const exchange of exchanges) {
    const { kind, port, startedAt, t, ageMs, outcome } = exchange
    if (outcome === 'answered') continue
    const meanwhile = crashes.filter(({ time }) => time >= startedAt - SLACK_MS && time <= t + SLACK_MS)
    // Of two connections, where the port has been used again
    const cuts = meanwhile.flatMap(({ cuts = [] }) => cuts).filter(cut => cut.remotePort === port)
    // Of one without an answer yet it is not known since when a worker has had it
    const isYoung = ageMs === 0
      ? outcome !== 'timeout'
      : meanwhile.some(({ time }) => time >= t - ageMs && time < t - ageMs + YOUNG_MS)
    if (meanwhile.length > 0 && (isYoung || mayFail(exchange, cuts))) costs[`${kind}: ${outcome}`] = (costs[`${kind}: ${outcome}`] ?? 0) + 1
    else violations.push(`${kind}: ${outcome} after ${t - startedAt} ms, on a connection of ${ageMs} ms, port ${port}; ${meanwhile.length} deaths meanwhile (${meanwhile.map(({ time }) => `${t - time} ms`).join(', ')} before), in the journal: ${JSON.stringify(cuts)}`)
  }
  return { costs, violations }
}

/** At a death. @param {import('./clients').Exchange} exchange @param {any[]} cuts in the journal */
function mayFail ({ kind, outcome }, cuts) {
  const { costs } = KINDS[kind]
  if (outcome === 'other bytes') return false // a part of an answer, taken for the whole
  if (costs === 'anything') return true
  return outcome === '502' && cuts.some(({ deaths }) => costs === '502' || deaths === 1)
}

module.exports = { judge }
