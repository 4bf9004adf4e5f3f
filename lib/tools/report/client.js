'use strict'

/**
 * The client's record: the requests of the load generator.
 *
 * @typedef {object} Drop a request that the client sent and that got no complete response with an expected status
 * @property {number} t when the client saw it
 * @property {number} startedAt when the request was sent
 * @property {string} error reset, closed-before-response, closed-during-response, timeout, status, refused, or the
 *   error's code
 * @property {number | null} status of the response; null: there was none
 * @property {string | null} method of the request
 * @property {string | null} path of the request
 * @property {number | null} localPort the client's port
 * @property {boolean} reused the connection had carried a request before
 * @property {import('./attribution').Attribution} attribute
 *
 * @typedef {Omit<Drop, 'attribute'> & Joined} DropFigures
 *
 * @typedef {object} Joined by its attribution
 * @property {number | null} recycle id of the recycle during which it was dropped; null: none
 * @property {number | null} slot of that recycle or crash
 * @property {number | null} oldPid the worker that was leaving, or crashed
 * @property {number | null} pid its replacement
 * @property {import('./attribution').Phase} phase surge: the replacement boots and the old worker serves; drain: the
 *   old worker finishes its requests; kill: it exits; none: no worker was being replaced
 * @property {'port' | 'time' | null} joinedBy port: the supervisor cut this connection; time: it happened during the
 *   recycle
 * @property {boolean} crashed it was dropped at a crash, not during a recycle
 *
 * @typedef {object} Load
 * @property {string | null} url where the load went
 * @property {Count} connections of the load
 * @property {Count | null} sockets connections that the load has opened in all; null: not recorded
 * @property {Count} kills workers that the load has killed
 * @property {boolean} isAlone the fleet was started for this load: every connection was the load's
 * @property {boolean} wasCutShort its records end early
 *
 * @typedef {object} Moment the requests of one time span
 * @property {number} ms recorded time in it
 * @property {number} requests @property {Histogram} histogram
 */

const { asCount, asNumber, asText } = require('../../core/journal-field')
const { Histogram, readPairs } = require('./histogram')
const { BoundedList } = require('../../core/bounded-list')
const { NONE } = require('./attribution')
const { Timeline } = require('./timeline')
/** @import { Count } from '../../core/journal-field' */

const TICK_MS = 250
const MOST_MOMENTS = 1200
const MOST_DROPS = 10_000

class Client {
  /** The journal has no record of a client, so the report has no requests. */
  isSilent = true
  url = /** @type {string | null} */ (null)
  connections = 0
  /** Connections that the clients opened in all; null: the end of the load is not recorded. @type {number | null} */
  sockets = null
  /** Workers that the drill has killed. */
  kills = 0
  /** @type {BoundedList<Drop>} */
  drops = new BoundedList(MOST_DROPS)
  #starts = 0
  #ends = 0
  #startsAlone = 0
  #ticked = { requests: 0, dropped: 0 }
  #ended = { requests: 0, dropped: 0 }
  #noted = 0
  /** @type {Timeline<Moment>} */
  #moments = new Timeline({
    widthMs: TICK_MS,
    capacity: () => MOST_MOMENTS,
    empty: () => ({ ms: 0, requests: 0, histogram: new Histogram() }),
    merge (into, other) {
      into.ms += other.ms
      into.requests += other.requests
      into.histogram.merge(other.histogram)
    }
  })

  /** @param {import('./histogram').Latency} latency */
  constructor (latency) {
    this.latency = latency
  }

  /** @type {Readonly<Record<string, (line: Record<string, unknown>) => void>>} */
  handlers = Object.freeze({
    'client.start': line => {
      this.isSilent = false
      this.#starts++
      this.url = asText(line.url)
      this.connections += asCount(line.connections)
      if (line.isAlone === true) this.#startsAlone++
    },
    'client.tick': line => this.#onTick(line),
    'client.drop': line => this.#onDrop(line),
    'client.end': line => {
      this.isSilent = false
      this.#ends++
      this.#ended.requests += asCount(line.requests)
      this.#ended.dropped += asCount(line.dropped)
      this.sockets = (this.sockets ?? 0) + asCount(line.sockets)
      this.kills += asCount(line.kills)
    }
  })

  /** The client's final count; if the record is truncated, the sum of its ticks. */
  get requests () {
    return this.#isWhole ? this.#ended.requests : this.#ticked.requests
  }

  /** The largest of the final count, the sum of ticks and the number of single drops: no drop is lost. */
  get dropped () {
    return Math.max(this.#isWhole ? this.#ended.dropped : this.#ticked.dropped, this.#noted)
  }

  /** The fleet was started for this load: all of its connections were the load's. */
  get isAlone () {
    return this.#starts > 0 && this.#startsAlone === this.#starts
  }

  get wasCutShort () {
    return !this.isSilent && !this.#isWhole
  }

  /** @returns {{ t: number, perSecond: number, p50: number | null, p99: number | null }[]} for a chart */
  series () {
    return this.#moments.list().map(({ t, cell: { ms, requests, histogram } }) => {
      const [p50, p99] = histogram.percentiles([0.5, 0.99])
      return { t: t + this.#moments.widthMs / 2, perSecond: ms > 0 ? requests / ms * 1000 : 0, p50, p99 }
    })
  }

  get #isWhole () {
    return this.#ends > 0 && this.#ends >= this.#starts
  }

  /** @param {Record<string, unknown>} line */
  #onTick (line) {
    const t = asNumber(line.t)
    if (t === null) return
    this.isSilent = false
    const ms = asCount(line.ms) || TICK_MS
    const requests = asCount(line.requests)
    this.#ticked.requests += requests
    this.#ticked.dropped += asCount(line.dropped)
    const pairs = readPairs(line.latency)
    this.latency.add({ from: t, to: t + ms, pairs })
    const moment = this.#moments.at(t + ms / 2)
    moment.ms += ms
    moment.requests += requests
    moment.histogram.add(pairs)
  }

  /** @param {Record<string, unknown>} line */
  #onDrop (line) {
    const t = asNumber(line.t)
    if (t === null) return
    this.isSilent = false
    this.#noted++
    this.drops.push({
      t,
      startedAt: asNumber(line.startedAt) ?? t,
      error: asText(line.error) ?? 'unknown',
      status: asNumber(line.status),
      method: asText(line.method),
      path: asText(line.path),
      localPort: asNumber(line.localPort),
      reused: line.reused === true,
      attribute: NONE
    })
  }
}

module.exports = { Client }
