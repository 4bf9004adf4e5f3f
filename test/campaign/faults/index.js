'use strict'

/**
 * The faults of a campaign. Each is done to a fleet under load, and says which workers' connections it may end: all
 * others must notice nothing.
 *
 * @typedef {import('../fleet').CampaignFleet} CampaignFleet
 * @typedef {{ fleet: CampaignFleet, random: () => number }} Scene
 * @typedef {object} Costs
 * @property {number[]} pids
 * @property {boolean} [isFleet] the primary has ended
 * @property {string[]} [wrong] what the fault itself has seen that may not be
 * @typedef {object} Kind
 * @property {string} name
 * @property {string} [place] where alone it can be done; see places.js
 * @property {string[]} [variants] those of the fleet; without them, any
 * @property {(fleet: CampaignFleet) => boolean} [needs] whether it can be done here
 * @property {boolean} [isSlow] it takes so long that it is left out of the short campaign
 * @property {(scene: Scene) => Promise<Costs>} act
 */

/** @type {Kind[]} */
const KINDS = [
  ...require('./of-workers').KINDS,
  ...require('./at-steps').KINDS,
  ...require('./of-the-primary').KINDS,
  ...require('./of-the-machine').KINDS
]

module.exports = { KINDS }
