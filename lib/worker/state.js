'use strict'

/**
 * The state of this worker as it sees itself; lib/core/state.js has the primary's view. Only a worker that serves
 * accepts connections.
 *
 *     held ──▶ serving ──▶ leaving ──▶ out
 *     any of these ──▶ shut ──▶ draining ──▶ drained
 *
 * It is held until it is called to serve. Out of rotation, leaving and out return to serving. As it is shut, its
 * addresses are given up; the order to drain follows, and until then it adopts.
 *
 * @typedef {'held' | 'serving' | 'leaving' | 'out' | 'shut' | 'draining' | 'drained'} State
 */

/**
 * `next`: what each may become; `refusal`: why it does not adopt.
 * @type {Readonly<Record<State, { next: State[], refusal: string | null }>>}
 */
const STATES = Object.freeze({
  held: { next: ['serving', 'shut', 'draining'], refusal: 'this worker has not been called' },
  serving: { next: ['leaving', 'shut', 'draining'], refusal: null },
  leaving: { next: ['serving', 'out', 'shut', 'draining'], refusal: 'this worker is out of rotation' },
  out: { next: ['serving', 'shut', 'draining'], refusal: 'this worker is out of rotation' },
  shut: { next: ['draining'], refusal: null }, // what a dying sibling had
  draining: { next: ['drained'], refusal: 'this worker is leaving' },
  drained: { next: [], refusal: 'this worker is leaving' }
})

class WorkerState {
  /** @param {State} [current] */
  constructor (current = 'serving') {
    this.current = current
  }

  get isServing () {
    return this.current === 'serving'
  }

  get refusal () {
    return STATES[this.current].refusal
  }

  /** @param {State} to @returns {boolean} */
  canBecome (to) {
    return STATES[this.current].next.includes(to)
  }

  /** @param {State} to */
  become (to) {
    if (!this.canBecome(to)) throw new Error(`a worker that is ${this.current} cannot become ${to}`)
    this.current = to
  }
}

module.exports = { STATES, WorkerState }
