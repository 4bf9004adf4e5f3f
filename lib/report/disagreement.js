'use strict'

/**
 * Where the two witnesses do not say the same: for each recycle, how many requests the client lost in it, and how many
 * the supervisor says that it cut. A response with the wrong status was not lost: it came, and neither says otherwise. Of
 * connections that are unaccounted for the supervisor says nothing, so that the client may have lost requests on these.
 *
 * @typedef {object} Disagreement
 * @property {number | null} recycle its id; null: while no worker was being replaced
 * @property {number} client requests that the client lost
 * @property {number} supervisor requests that the supervisor cut
 */

/**
 * @param {readonly import('./client').Drop[]} drops with their attribute
 * @param {readonly import('./audit').RecycleEvent[]} events
 * @returns {Disagreement[]}
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
      supervisor: event.cuts.length || event.cut,
      unaccounted: event.unaccounted
    }))
    .filter(({ client, supervisor, unaccounted }) => client < supervisor || client > supervisor + unaccounted)
    .map(({ recycle, client, supervisor }) => ({ recycle, client, supervisor }))
  // A crash is in the supervisor's journal too: there they agree.
  const outside = lost.filter(({ attribute }) => attribute.event === null && attribute.crash === null).length
  return outside === 0 ? found : [...found, { recycle: null, client: outside, supervisor: 0 }]
}

module.exports = { disagreements }
