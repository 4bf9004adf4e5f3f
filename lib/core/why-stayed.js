'use strict'

/**
 * Reasons for which an upgraded or raw connection did not go to another worker, and ended with its own: in the journal
 * as `why` of a cut, and of those that were closed with 1012; in the log as a sentence, once for each.
 */

const WHY_STAYED = Object.freeze({
  'not-told': 'the app has not said how they move (webSockets(), socketIO() or movable() of recycle-supervisor/worker)',
  tls: 'the app itself ends their TLS, whose state cannot be taken out of a process',
  http2: 'they are of HTTP/2',
  arguments: 'the app emits `connection` with further arguments, which webSockets() ' +
    'can make again by its option `load`',
  compression: 'they are compressed with a window of earlier messages',
  busy: 'the app, or a message in part, has kept them until the deadline',
  threw: 'the app has thrown as it was asked for their state, or the state is too large, or cannot be copied',
  refused: 'no other worker has taken them',
  stop: 'the fleet stops'
})

/** @typedef {keyof typeof WHY_STAYED} Why */

/**
 * @param {Pick<import('./account').Account, 'cuts' | 'restarted'>} account
 * @returns {Why[]} each once; a stop is none, since no connection could have gone
 */
function whyStayed ({ cuts, restarted = {} }) {
  const all = new Set([...Object.keys(restarted), ...cuts.map(({ why }) => why)])
  return /** @type {Why[]} */ (Object.keys(WHY_STAYED).filter(why => why !== 'stop' && all.has(why)))
}

/** @param {{ restarted?: Record<string, number> }} account @returns {number} how many were closed with 1012 */
const countRestarted = ({ restarted = {} }) => Object.values(restarted).reduce((sum, count) => sum + count, 0)

module.exports = { WHY_STAYED, whyStayed, countRestarted }
