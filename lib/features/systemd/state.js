'use strict'

/**
 * News of the fleet for a service manager, as the assignments of sd_notify(3), from the lines of the journal:
 *
 *     starting ──enough workers are ready──▶ running ◀──▶ reloading        any of them ──▶ stopping
 *
 * Its timeouts are extended by what the fleet's own timeouts allow for the next step, since those are the ones that are
 * meant.
 */

const { REPLAY_MS } = require('../../core/request-replay')
/** @import { Options } from '../../tables/options' */

const SLACK_MS = 10_000 // to give the addresses up, for a worker's account, and for a busy machine

/** @typedef {Pick<Options, 'readyTimeoutMs' | 'drainTimeoutMs' | 'killTimeoutMs' | 'stopTimes'>} Timeouts */

/** @param {Timeouts} timeouts @returns {number} the longest that the replacement of one worker takes, ms */
function longestRecycleMs ({ readyTimeoutMs, drainTimeoutMs, killTimeoutMs }) {
  return readyTimeoutMs + drainTimeoutMs + killTimeoutMs + SLACK_MS + REPLAY_MS
}

class ServiceState {
  /** @type {'starting' | 'running' | 'reloading' | 'stopping'} */
  #phase = 'starting'
  /** The generation that the latest reload asks for. */
  #generation = 0
  /** A reload tries its code for as long as the user wants. */
  #isOnTrial = false

  /** @param {Timeouts} timeouts @param {string} leads the event by which a new primary says that it runs the fleet */
  constructor (timeouts, leads) {
    this.timeouts = timeouts
    this.leads = leads
  }

  /**
   * @param {import('../../lines').ReadLine} line
   * @param {() => boolean} isReady as a readiness probe sees it, after that line
   * @param {number} monotonicUs the kernel's CLOCK_MONOTONIC
   * @returns {Record<string, string | number>} the assignments of one message; none: there is nothing to tell
   */
  hear (line, isReady, monotonicUs) {
    switch (line.event) {
      case 'fleet.start':
        return extend(this.timeouts.readyTimeoutMs + SLACK_MS)
      case this.leads:
      case 'fleet.resumed':
        return { MAINPID: Number(line.pid), ...this.#run() }
      case 'fleet.stopping':
        this.#phase = 'stopping'
        return { STOPPING: 1, ...extend(this.timeouts.stopTimes.totalMs) }
      case 'fleet.trial':
      case 'fleet.reload':
        this.#isOnTrial = line.event === 'fleet.trial'
        this.#generation = Number(line.generation)
        if (this.#phase === 'running') {
          this.#phase = 'reloading'
          return { RELOADING: 1, MONOTONIC_USEC: monotonicUs, ...extend(longestRecycleMs(this.timeouts)) }
        }
        break
      case 'fleet.reloaded':
        if (this.#phase === 'reloading' && Number(line.generation) >= this.#generation) return this.#run()
        break
      case 'fleet.rejected':
        this.#isOnTrial = false
        if (this.#phase === 'reloading') return this.#run()
        break
      case 'worker.sample':
        if (this.#isOnTrial && this.#phase === 'reloading') return extend(longestRecycleMs(this.timeouts))
        break
      case 'fleet.warning':
        if (this.#phase === 'reloading' && line.warning === 'rollout-stopped') return this.#run()
    }
    if (this.#phase === 'starting' && line.event !== 'worker.sample' && isReady()) return this.#run()
    if (this.#phase === 'reloading' && (line.event === 'worker.spawn' || line.event === 'recycled')) {
      return extend(longestRecycleMs(this.timeouts))
    }
    return {}
  }

  #run () {
    this.#phase = 'running'
    return { READY: 1 }
  }
}

/** @param {number} ms */
const extend = ms => ({ EXTEND_TIMEOUT_USEC: ms * 1000 })

module.exports = { ServiceState, longestRecycleMs }
