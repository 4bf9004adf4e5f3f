'use strict'

/**
 * Disagreements between client and supervisor: for each recycle, how many requests the client lost, and how many the
 * supervisor cut. A response with the wrong status is not a lost request. The supervisor knows nothing of connections
 * that are unaccounted for, so the client may have lost requests on these.
 *
 * @typedef {object} Disagreement
 * @property {number | null} recycle its id; null: outside any recycle
 * @property {import('../../core/journal-field').Count} client requests that the client lost
 * @property {import('../../core/journal-field').Count} supervisor requests that the supervisor cut
 */

/**
 * @param {readonly import('./client').Drop[]} drops with their attribute
 * @param {readonly import('../../journal/recycle-event').RecycleEvent[]} events @returns {Disagreement[]}
 */
function disagreements (drops, events) {
  const lost = drops.filter(({ error }) => error !== 'status')
  /** @type {Map<unknown, number>} */
  const byEvent = new Map()
  for (const { attribute: { event } } of lost) byEvent.set(event, (byEvent.get(event) ?? 0) + 1)
  const found = events
    .map(event => ({
      recycle: /** @type {number | null} */ (event.id),
      client: byEvent.get(event) ?? 0,
      supervisor: event.cuts.filter(({ upgraded }) => !upgraded).length || Number(event.cut),
      unaccounted: Number(event.unaccounted)
    }))
    .filter(({ client, supervisor, unaccounted }) => client < supervisor || client > supervisor + unaccounted)
    .map(({ recycle, client, supervisor }) => ({ recycle, client, supervisor }))
  // The supervisor's journal records crashes too: no disagreement.
  const outside = lost.filter(({ attribute }) => attribute.event === null && attribute.crash === null).length
  return outside === 0 ? found : [...found, { recycle: null, client: outside, supervisor: 0 }]
}

module.exports = { disagreements }
