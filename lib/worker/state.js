'use strict'

/**
 * The state of this worker as it sees itself; lib/core/state.js has the primary's view. Only a worker that serves accepts or
 * adopts connections.
 *
 *     standby ──▶ serving ──▶ leaving ──▶ out       out of rotation: leaving and out return to serving
 *     any of these ──▶ shut ──▶ draining ──▶ drained     shut: its addresses are given up, the order to drain follows
 *
 * @typedef {'standby' | 'serving' | 'leaving' | 'out' | 'shut' | 'draining' | 'drained'} State
 */

/** @type {Readonly<Record<State, readonly State[]>>} */
const TRANSITIONS = Object.freeze({
  standby: ['serving', 'shut', 'draining'],
  serving: ['leaving', 'shut', 'draining'],
  leaving: ['serving', 'out', 'shut', 'draining'],
  out: ['serving', 'shut', 'draining'],
  shut: ['draining'],
  draining: ['drained'],
  drained: []
})

class WorkerState {
  /** @param {State} [current] */
  constructor (current = 'serving') {
    this.current = current
  }

  get isServing () {
    return this.current === 'serving'
  }

  /** @param {State} to @returns {boolean} */
  canBecome (to) {
    return TRANSITIONS[this.current].includes(to)
  }

  /** @param {State} to */
  become (to) {
    if (!this.canBecome(to)) throw new Error(`a worker that is ${this.current} cannot become ${to}`)
    this.current = to
  }
}

module.exports = { TRANSITIONS, WorkerState }
