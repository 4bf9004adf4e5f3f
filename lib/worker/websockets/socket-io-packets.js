'use strict'

const { performance } = require('node:perf_hooks')

const ACKNOWLEDGED_MS = 10_000
const MOST_AWAITED = 1000

/** Counts what passes on one connection, and knows whether it is in the middle of something. */
class Packets {
  received = 0
  #unsent = 0
  /** Binary attachments that are to come. */
  #toCome = 0
  /** Acknowledgements awaited here, and there: namespace and number, since when. @type {Map<string, number>} */
  #awaitedHere = new Map()
  /** @type {Map<string, number>} */
  #awaitedThere = new Map()

  /** @param {import('node:events').EventEmitter} conn of engine.io @param {() => number} [now] ms */
  constructor (conn, now = () => performance.now()) {
    this.now = now
    conn.on('packet', ({ type, data }) => {
      this.received++
      if (type === 'message') this.#note(data, this.#awaitedThere, this.#awaitedHere, true)
    })
    conn.on('packetCreate', ({ type, data }) => {
      this.#unsent++
      if (type === 'message') this.#note(data, this.#awaitedHere, this.#awaitedThere, false)
    })
    conn.on('drain', () => { this.#unsent = 0 })
  }

  get isBusy () {
    const oldest = this.now() - ACKNOWLEDGED_MS
    return this.#unsent > 0 || this.#toCome > 0 || isAwaited(this.#awaitedHere, oldest) ||
      isAwaited(this.#awaitedThere, oldest)
  }

  /**
   * @param {unknown} data @param {Map<string, number>} asked by this side's events
   * @param {Map<string, number>} answered by its acknowledgements @param {boolean} isComing
   */
  #note (data, asked, answered, isComing) {
    if (typeof data !== 'string') {
      if (isComing && this.#toCome > 0) this.#toCome--
      return
    }
    const [, type, attachments = '0', namespace = '/', number] = /^([2356])(?:(\d+)-)?(?:(\/[^,]*),)?(\d+)?/
      .exec(data) ?? []
    if (isComing) this.#toCome += Number(attachments)
    if (type === undefined || number === undefined) return
    if (type !== '2' && type !== '5') return answered.delete(`${namespace},${number}`)
    asked.set(`${namespace},${number}`, this.now())
    if (asked.size > MOST_AWAITED) asked.delete(/** @type {string} */ (asked.keys().next().value))
  }
}

/**
 * @param {Map<string, number>} awaited the oldest first: those that never come are forgotten
 * @param {number} oldest that may still come
 */
function isAwaited (awaited, oldest) {
  for (const [name, since] of awaited) {
    if (since > oldest) return true
    awaited.delete(name)
  }
  return false
}

module.exports = { Packets }
