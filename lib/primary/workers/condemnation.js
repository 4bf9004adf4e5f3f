'use strict'

/** Why a worker is to be replaced or to end. All of its fields are written here. */

const { REASONS } = require('../../tables/reasons')
const { now } = require('../clock')
/** @import { Asked, Ended, Reason } from '../../tables/reasons' */

class Condemnation {
  /** @type {Reason | Ended | null} null: it stays */
  #reason = null
  #at = 0
  #isWaiting = false
  /** @type {Asked | null} */
  #requested = null
  #isCommanded = false

  get reason () {
    return this.#reason
  }

  /** Properties of the reason. */
  get row () {
    return REASONS.get(this.#reason)
  }

  /** When a look at it condemned it: ms, by clock.js; 0: none has. */
  get at () {
    return this.#at
  }

  /** The worker stays until the memory has room for its replacement. */
  get isWaiting () {
    return this.#isWaiting
  }

  /** The finding of the next look, whatever its figures are. */
  get requested () {
    return this.#requested
  }

  /** A command has requested it, and not the worker itself. */
  get isCommanded () {
    return this.#isCommanded
  }

  /**
   * The first request holds, but a fault of its channel outdoes it.
   * @param {Asked} reason @param {{ isCommanded?: boolean }} [by]
   */
  request (reason, { isCommanded = false } = {}) {
    if (this.#requested === null || REASONS.get(reason)?.isFault) this.#requested = reason
    this.#isCommanded ||= isCommanded
  }

  /** By a look at it. @param {Reason} reason @param {number} [at] */
  condemn (reason, at = now()) {
    this.#reason = reason
    this.#at = at
  }

  /** The worker ends with the fleet, or with its slot, unless it is condemned. @param {Ended} reason */
  dismiss (reason) {
    this.#reason ??= reason
  }

  wait () {
    this.#isWaiting = true
  }

  /** The worker stays after all. */
  lift () {
    this.#reason = null
    this.#at = 0
    this.#isWaiting = false
  }
}

module.exports = { Condemnation }
