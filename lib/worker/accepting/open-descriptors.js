'use strict'

/**
 * How many connections this process has descriptors for. The kernel assigns the lowest free descriptor, so all below
 * one that has just been opened are in use: the descriptor of each accepted connection shows that, and one that is
 * opened with each heartbeat. From half of the limit on, they are counted: since Linux 6.2 the size of /proc/self/fd is
 * their number. Before, it has to be read, which takes 40 ms with 12,000 of them, so it is not read with each heartbeat
 * then.
 */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { ceilingOf } = require('../../core/ceiling')
const { descriptorLimit } = require('../../native/descriptor-limit')

const NONE_LEFT = new Set(['EMFILE', 'ENFILE'])
const COUNT_FROM = 0.5 // of the limit: below, nothing is counted
const COUNT_SHARE = 0.02 // of the worker's time, at the most

class OpenDescriptors {
  /** Connections that it has descriptors for; Infinity: there is no limit, or they have not been counted yet. */
  ceiling = Infinity
  #limit = descriptorLimit()
  /** How many were open when they were last counted, or more. */
  #open = 0
  #countNotBefore = 0

  /** @param {number | undefined} fd a new connection's, where it has one @param {number} connections that there are */
  opened (fd = -1, connections) {
    if (fd < COUNT_FROM * this.#limit) return
    this.#open = fd + 1
    this.ceiling = Math.min(this.ceiling, ceilingOf(this.#limit, this.#open, connections))
  }

  /** With every heartbeat. @param {number} connections that there are */
  measure (connections) {
    const isNear = Math.max(lowestFree() ?? this.#limit, this.#open) >= COUNT_FROM * this.#limit
    if (this.ceiling === Infinity || (isNear && performance.now() >= this.#countNotBefore)) this.count(connections)
  }

  /** @param {number} connections that there are */
  count (connections) {
    const began = performance.now()
    const most = this.#limit
    this.#open = most === Infinity ? 0 : Math.min(most, openDescriptors() ?? most)
    this.#countNotBefore = began + (performance.now() - began) / COUNT_SHARE
    this.ceiling = most === Infinity ? Infinity : ceilingOf(most, this.#open, connections)
  }
}

/** @returns {number | null} with the one that it takes to read them; null: there is none left for that */
function openDescriptors () {
  return orNullAtLimit(() => {
    const { size } = fs.statSync('/proc/self/fd')
    return size > 0 ? size + 1 : fs.readdirSync('/proc/self/fd').length
  })
}

/** @returns {number | null} null: there is none */
function lowestFree () {
  return orNullAtLimit(() => {
    const fd = fs.openSync('/dev/null', 'r')
    fs.closeSync(fd)
    return fd
  })
}

/** @param {() => number} look @returns {number | null} null where no descriptor is free; 0 on any other error */
function orNullAtLimit (look) {
  try {
    return look()
  } catch (error) {
    return NONE_LEFT.has(String(/** @type {NodeJS.ErrnoException} */ (error).code)) ? null : 0
  }
}

module.exports = { OpenDescriptors }
