'use strict'

/**
 * In a worker: counts its responses while new code is compared with that before, and tells the primary once a second.
 * Else it does nothing.
 */

const { performance } = require('node:perf_hooks')
const { hasBody, isEventStream } = require('../../core/internals')
const { liveBytes } = require('../../worker/vitals/gc-pauses')
const { newCounts, newConnection, countResponse, countCollection } = require('./counts')
/** @import { Exchange } from '../../worker/connections/connection' */
/** @import { Connection, Counts } from './counts' */
/** @import { Thresholds } from './times' */

const EVERY_MS = 900 // of the heartbeats at most one a second has it

class Observer {
  /** @type {Counts | null} */
  #counts = null
  /** The counts of each connection. @type {WeakMap<object, Connection>} */
  #connections = new WeakMap()
  /** @type {Thresholds | null} */
  #thresholds = null
  /** When the comparison began, with its warm-up. @type {number | null} */
  #since = null
  #elu = performance.eventLoopUtilization()
  #sentAt = -Infinity
  #unlisten = () => {}

  /** @param {import('../interface').WorkerKernel} kernel */
  constructor (kernel) {
    this.kernel = kernel
    kernel.channel.on({
      observe: fields => {
        if (!fields.isOver) return this.#begin(fields)
        this.#counts = this.#since = null
        this.#unlisten()
        kernel.tracker.removeListener('rest', this.#count)
      }
    })
  }

  beat () {
    if (this.#counts === null || performance.now() - this.#sentAt < EVERY_MS) return
    this.#sentAt = performance.now()
    this.#counts.busyMs = Math.round(performance.eventLoopUtilization(this.#elu).active)
    this.kernel.channel.send('observe', { counts: this.#withWaiting(this.#counts) })
  }

  /**
   * A request that has waited for longer than the threshold of the tail is slow already, whatever comes of it: clients
   * wait longer than a comparison lasts.
   * @param {Counts} counts
   */
  #withWaiting (counts) {
    const [thresholds, since, now] = [this.#thresholds, Number(this.#since), performance.now()]
    if (thresholds === null) return counts
    const shown = structuredClone(counts)
    for (const connection of this.kernel.tracker.connections) {
      if (connection.exchanges.length === 0 || connection.isForeign) continue
      const of = { ...this.#connections.get(connection) ?? newConnection() }
      for (const exchange of connection.exchanges) {
        const began = exchange.since ?? now
        const ms = now - began
        if (began < since || ms <= thresholds.tailMs || isEventStream(exchange.response)) continue
        countResponse(shown, of, { status: 0, ms }, thresholds)
      }
    }
    return shown
  }

  /** @param {{ thresholds: Thresholds | null }} fields */
  #begin ({ thresholds }) {
    this.#thresholds = thresholds
    this.#counts = newCounts()
    this.#connections = new WeakMap()
    this.#elu = performance.eventLoopUtilization()
    this.kernel.tracker.removeListener('rest', this.#count).on('rest', this.#count)
    this.#since ??= performance.now() // what is in flight has its time by now: see Requests.areTimed
    this.#unlisten()
    this.#unlisten = this.kernel.onCollected(hasMarkSweep => this.#collected(hasMarkSweep))
  }

  /** @param {boolean} hasMarkSweep */
  #collected (hasMarkSweep) {
    if (this.#counts === null) return
    const { requests, memory } = this.#counts
    countCollection(memory, { requests, liveBytes: liveBytes() }, hasMarkSweep)
  }

  /**
   * The client has given up sooner than the slowest answers of the code before come. Each such client comes anew, and
   * workers that have just started accept more of those than of others: that says nothing of the code.
   * @param {import('../../worker/connections/connection').Connection} connection @param {number} ms
   */
  #isImpatient ({ session, top }, ms) {
    const isByClient = session !== null || top.readableEnded || top.errored?.syscall !== undefined
    return isByClient && ms <= (this.#thresholds?.tailMs ?? Infinity)
  }

  #count = (/** @type {Exchange['connection']} */ connection, /** @type {Exchange} */ { response, since, written }) => {
    // How long a stream lasts is up to the app and the client
    if (this.#counts === null || connection.isForeign || isEventStream(response)) return
    const now = performance.now()
    const ms = now - (since ?? now)
    const isUnfinished = response.writableFinished === false
    if (isUnfinished && (connection.fate !== null || this.#isImpatient(connection, ms))) return
    const of = this.#connections.get(connection) ?? newConnection()
    this.#connections.set(connection, of)
    const status = response.statusCode ?? response.sentHeaders?.[':status'] ?? 0
    const sent = (connection.socket?._handle?.bytesWritten ?? NaN) - written
    countResponse(this.#counts, of, { status, ms, isUnfinished, hasBody: hasBody(response, sent) }, this.#thresholds)
  }
}

/** @param {import('../interface').WorkerKernel} kernel */
const part = kernel => new Observer(kernel)

module.exports = { part, Observer }
