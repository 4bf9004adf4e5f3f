'use strict'

const { EventEmitter } = require('node:events')

/**
 * @typedef {object} Deps what all parts may take
 * @property {import('../tables/options').Options} options @property {import('./workers/fleet').Fleet} fleet
 * @property {import('./features').RunningFeatures} features @property {import('./workers/spawner').Spawner} spawner
 * @property {ReturnType<typeof import('./measuring/meter').pickMeter>} meter @property {import('./tasks').Tasks} tasks
 * @property {import('./tenure').Tenure} tenure
 * @property {import('./succession/takeover').Takeover | null} takeover of another primary's fleet
 * @property {() => void} changed to be called when a fact has changed, or what is desired
 * @property {import('./rounds').Rounds['until']} until @property {import('./workers/resize').Resize} resize
 * @property {import('./measuring/memory-watch').MemoryWatch} memoryWatch of the container
 * @property {import('./measuring/auto-size').AutoSize} autoSize
 * @property {import('./sockets/listening-sockets').ListeningSockets} listeningSockets
 * @property {import('../journal/events').Recording} record writes a line of the journal
 * @property {import('./warnings').Warnings} warnings
 * @property {(error: import('../core/errors').RecycleError) => void} abandon stops the fleet for an error
 */

/**
 * A part of the primary: what parts.js gives it, it has by the same names, and it may emit events; `More`: what it
 * takes beside what all parts may take; `Of`: of that, the names of what it takes, where it is made before the rest.
 * @type {new <More = object, Of extends keyof Deps = keyof Deps>(given: Pick<Deps, Of> & More) =>
 *   EventEmitter & Readonly<Pick<Deps, Of> & More>}
 */
const Part = /** @type {any} */ (class extends EventEmitter {
  /** @param {object} given */
  constructor (given) {
    super()
    Object.assign(this, given)
  }
})

module.exports = { Part }
