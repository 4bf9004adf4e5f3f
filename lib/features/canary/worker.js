'use strict'

/**
 * In a worker: counts its responses while new code is compared with that before, and tells the primary once a second.
 * Else it does nothing.
 */

const { performance } = require('node:perf_hooks')
const { newCounts, newConnection, countResponse, countCollection } = require('./counts')

const EVERY_MS = 900 // of the heartbeats at most one a second has it

class Observer {
  /** @type {import('./counts').Counts | null} */
  #counts = null
  /** What has been counted of each connection. @type {WeakMap<object, import('./counts').Connection>} */
  #connections = new WeakMap()
  /** @type {import('./times').Thresholds | null} */
  #thresholds = null
  #elu = performance.eventLoopUtilization()
  #sentAt = -Infinity

  /** @param {import('../interface').WorkerKernel} kernel */
  constructor (kernel) {
    this.kernel = kernel
    kernel.onCollected(hasMarkSweep => this.#collected(hasMarkSweep))
    kernel.channel.on({
      observe: fields => this.#begin(fields),
      unobserve: () => {
        this.#counts = null
        kernel.tracker.removeListener('rest', this.#count)
      }
    })
  }

  beat () {
    if (this.#counts === null || performance.now() - this.#sentAt < EVERY_MS) return
    this.#sentAt = performance.now()
    this.#counts.busyMs = Math.round(performance.eventLoopUtilization(this.#elu).active)
    this.kernel.channel.send('observed', { counts: this.#counts })
  }

  /** @param {{ thresholds: import('./times').Thresholds | null }} fields */
  #begin ({ thresholds }) {
    this.#thresholds = thresholds
    this.#counts = newCounts()
    this.#connections = new WeakMap()
    this.#elu = performance.eventLoopUtilization()
    this.kernel.tracker.removeListener('rest', this.#count).on('rest', this.#count)
  }

  /** @param {boolean} hasMarkSweep */
  #collected (hasMarkSweep) {
    if (this.#counts === null) return
    const { requests, memory } = this.#counts
    countCollection(memory, { requests, liveBytes: this.kernel.liveBytes() }, hasMarkSweep)
  }

  #count = (/** @type {any} */ connection, /** @type {any} */ { response, since }) => {
    // How long a stream lasts is up to the app, and an end by the client says nothing.
    if (this.#counts === null || connection.isStream || response.writableFinished === false) return
    const of = this.#connections.get(connection) ?? newConnection()
    this.#connections.set(connection, of)
    countResponse(this.#counts, of, { status: response.statusCode ?? response.sentHeaders?.[':status'] ?? 0, ms: performance.now() - since }, this.#thresholds)
  }
}

module.exports = { Observer }
