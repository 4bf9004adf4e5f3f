'use strict'

/**
 * The apps of bench:gc and the profiles to run them by, as options of supervise(). `no-mark-sweep` has the flags as
 * they were published; an app that holds more than they allow gets that much more. The profiles with a budget are those
 * of `--gc`.
 */

const ROOMY_BYTES = 8 * 1024 ** 3 // a budget that no run reaches

/**
 * @typedef {object} App
 * @property {string} about
 * @property {number} liveMiB of old space that its workers need
 * @property {number} budgetMiB RSS at which a worker is replaced, or taken out of rotation, in place of collecting
 * @property {number} [alwaysMiB] the budget by every profile, since it leaks
 */

/** @type {Record<string, App>} */
const APPS = {
  garbage: { about: '6,000 one-byte Buffers a request, all garbage', liveMiB: 0, budgetMiB: 400 },
  external: { about: '1 MB Buffers, kept for 32 requests', liveMiB: 0, budgetMiB: 600 },
  cache: { about: '300 MB of cache, 20 KB of it replaced by each request', liveMiB: 360, budgetMiB: 800 },
  objects: { about: '2 million preallocated objects', liveMiB: 160, budgetMiB: 700 },
  leak: { about: '50 KB a request leaked', liveMiB: 600, budgetMiB: 400, alwaysMiB: 300 }
}

/** @type {Record<string, (app: App) => Record<string, any>>} */
const PROFILES = {
  default: () => ({}),
  'no-mark-sweep': ({ liveMiB }) => ({ nodeOption: [`--max-old-space-size=${100 + liveMiB}`, '--max-semi-space-size=64', '--noconcurrent_sweeping'] }),
  'semi-space': () => ({ nodeOption: newSpace(64) }),
  'huge-heap': ({ alwaysMiB }) => ({ gc: 'huge-heap', maxRss: alwaysMiB ? `${alwaysMiB}MiB` : ROOMY_BYTES }),
  'huge-heap+budget': ({ budgetMiB }) => ({ gc: 'huge-heap', maxRss: `${budgetMiB}MiB` }),
  collect: ({ budgetMiB }) => ({ gc: 'huge-heap', maxRss: `${budgetMiB}MiB`, onBudget: 'collect' }),
  'serial-scavenge': () => ({ nodeOption: ['--no-parallel-scavenge'] }),
  'new-space-1g': () => ({ nodeOption: newSpace(1024) })
}

/** Measured unless --profiles names others. */
const COMPARED = ['default', 'huge-heap', 'no-mark-sweep']

const LOADS = { saturation: 'saturation', rate: 'a fixed rate' }

/**
 * The name of a group of the bench.
 *
 * @param {{ app: string, workers: number, connections: number, load: string }} how `load`: saturation or rate
 */
function groupName ({ app, workers, connections, load }) {
  return `${app}, ${workers} ${workers === 1 ? 'worker' : 'workers'}, ${connections} connections, ${LOADS[/** @type {keyof LOADS} */ (load)]}`
}

/** At its full size from the start. @param {number} semiMiB */
function newSpace (semiMiB) {
  return [`--min-semi-space-size=${semiMiB}`, `--max-semi-space-size=${semiMiB}`]
}

/** @param {string} profile @param {string} app @returns {Record<string, any>} options of supervise() */
function optionsOf (profile, app) {
  const { alwaysMiB } = APPS[app]
  const always = alwaysMiB ? { maxRss: `${alwaysMiB}MiB` } : {}
  return { nodeOption: [], ...always, ...PROFILES[profile](APPS[app]) }
}

module.exports = { APPS, PROFILES: Object.keys(PROFILES), COMPARED, LOADS, groupName, optionsOf }
