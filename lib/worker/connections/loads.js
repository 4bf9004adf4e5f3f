'use strict'

/**
 * Loads by which the primary places connections: how many of this worker's last, which of them can move, and what part
 * of its event loop the requests of each take. All but the number of the lasting ones is as of the last measure(),
 * which runs with the heartbeat.
 */

const { performance } = require('node:perf_hooks')
const { LIGHT } = require('../../core/sharing')

class Loads {
  /** Connections that last as long as the app wants. */
  streams = 0
  /** Of this worker's event loop what the requests of connections take that can move; 0 to 1. */
  movable = 0
  /** Connections that cannot all move at once while this worker serves, or have a session here. */
  fixed = 0
  #utilization = performance.eventLoopUtilization()
  /** Requests begun, and messages that had come, by the last measure(). */
  #begun = 0

  /** @param {Pick<import('./tracker').ConnectionTracker, 'connections' | 'requests'>} tracker */
  constructor (tracker) {
    this.tracker = tracker
  }

  /** How many connections have been open for a second. Only the newest have not, so only these are visited. */
  get lasting () {
    const now = performance.now()
    const { connections } = this.tracker
    let { size } = connections
    for (const connection of connections.backwards()) {
      if (connection.hasStayed(now)) break
      if (!connection.isLasting(now)) size--
    }
    return size
  }

  /** @param {number} [utilization] of the event loop since the last call, 0 to 1 */
  measure (utilization = performance.eventLoopUtilization(this.#utilization).utilization) {
    this.#utilization = performance.eventLoopUtilization()
    const { connections, requests } = this.tracker
    const begun = requests.begun + requests.messages
    const perRequest = utilization / Math.max(1, begun - this.#begun)
    this.#begun = begun
    this.streams = this.movable = this.fixed = 0
    for (const connection of connections) {
      const load = (connection.load + perRequest * connection.requests) / 2
      connection.load = load < LIGHT / 8 ? 0 : load // numbers that are nearly 0 are slow
      connection.requests = 0
      if (connection.isStream) this.streams++
      if (connection.sessionId !== null || !connection.isMovable) this.fixed++
      if (connection.sessionId === null && (connection.isMovable || connection.isSharable)) {
        this.movable += connection.load
      }
    }
  }
}

module.exports = { Loads }
