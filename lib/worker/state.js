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

/** The states that may follow each. @type {Readonly<Record<State, State[]>>} */
const STATES = Object.freeze({
  held: ['serving', 'shut', 'draining'],
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

  /** This worker takes connections of siblings; as it is shut, what a dying one had. */
  get adopts () {
    return this.isServing || this.current === 'shut'
  }

  /** @param {State} to @returns {boolean} */
  canBecome (to) {
    return STATES[this.current].includes(to)
  }

  /** @param {State} to */
  become (to) {
    if (!this.canBecome(to)) throw new Error(`a worker that is ${this.current} cannot become ${to}`)
    this.current = to
  }
}

module.exports = { STATES, WorkerState }
