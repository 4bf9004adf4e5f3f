'use strict'

/** Decides the sizes of a fleet again, by the lines of its journal. */

const { decide, pushLoad, NO_HISTORY } = require('../../lib/features/elastic/decide')

/** @typedef {{ to: number, reason: string, busy: number }} Resize */

/**
 * @param {Record<string, any>[]} lines of one primary
 * @returns {Resize[]} what lib/features/elastic/decide.js decides by `fleet.load`
 */
function replayScaling (lines) {
  let history = NO_HISTORY
  /** @type {any} */
  let bounds = null
  /** @type {Resize[]} */
  const decisions = []
  for (const line of lines) {
    if (line.event === 'fleet.start') bounds = line.options.autoscale
    if (line.event !== 'fleet.load') continue
    history = pushLoad(history, /** @type {any} */ (line))
    const decision = line.isPinned ? null : decide(history, bounds)
    if (decision && decision.reason !== 'no-room') decisions.push({ to: decision.workers, reason: decision.reason, busy: decision.busy })
  }
  return decisions
}

/** @param {Record<string, any>[]} lines @returns {Resize[]} what the journal says was decided */
function scaled (lines) {
  return lines.filter(({ event, reason }) => event === 'fleet.scale' && ['busy', 'idle', 'bounds'].includes(reason)).map(({ to, reason, busy }) => ({ to, reason, busy }))
}

module.exports = { replayScaling, scaled }
