'use strict'

/**
 * Whether `--sticky` finds sessions in requests, and more than one: a wrong name is told once, and so is one session
 * that has nearly all requests.
 */

const ENOUGH = 3000 // requests
const NEARLY_ALL = 0.9

/**
 * @typedef {object} Counts of some requests of one worker
 * @property {number} requests
 * @property {number} found how many name a session
 * @property {number} begun sessions, by responses meanwhile
 * @property {number} most so many requests, or more, are of one session, if any session has more than half of them
 * @property {number} which the hash of that session
 */

class FleetTally {
  #sum = { requests: 0, found: 0, begun: 0 }
  /** By session, of those that are the most frequent ones of a worker. @type {Map<number, number>} */
  #most = new Map()

  /** @param {Pick<import('../../primary/parts').Parts, 'options' | 'fleet' | 'warnings'>} kernel */
  constructor ({ options, fleet, warnings }) {
    this.key = options.sticky
    this.fleet = fleet
    this.warnings = warnings
  }

  /** @param {import('../../primary/workers/worker-handle').WorkerHandle} handle */
  connect (handle) {
    handle.hear({ tally: counts => this.#add(counts) })
  }

  /** @param {Counts} counts */
  #add ({ requests, found, begun, most, which }) {
    const sum = this.#sum
    sum.requests += requests
    sum.found += found
    sum.begun += begun
    this.#most.set(which, (this.#most.get(which) ?? 0) + most)
    if (sum.requests < ENOUGH) return
    const ofOne = Math.max(...this.#most.values())
    if (sum.found === 0) this.#tell('sticky-none', { requests: sum.requests, begun: sum.begun })
    else if (ofOne >= NEARLY_ALL * sum.requests && this.fleet.desired > 1) {
      this.#tell('sticky-one', { requests: sum.requests, most: ofOne })
    }
    this.#sum = { requests: 0, found: 0, begun: 0 }
    this.#most.clear()
  }

  /** @param {string} warning @param {{ requests: number, begun?: number, most?: number }} counts */
  #tell (warning, counts) {
    this.warnings.warnOnce({ warning, by: [this.key?.by, this.key?.name].filter(Boolean).join(':'), ...counts })
  }
}

module.exports = { FleetTally }
