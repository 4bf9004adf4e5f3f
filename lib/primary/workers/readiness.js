'use strict'

/**
 * The steps that a booting worker still lacks to be ready: it listens where it is to (required-addresses.js), or it
 * says that it is ready, by --ready-on; and each feature that is a gate has let it pass.
 */

const { isEvading } = require('../../core/address')
/** @import { WorkerHandle } from './worker-handle' */

class Readiness {
  /** The worker lacks nothing but what gates say. */
  #isBooted = false
  /** Why a gate does not let it pass, in words. @type {string | null} */
  refusal = null
  /** Gates that have not let the worker pass yet, by name. @type {Set<string>} */
  #gates
  /** Runs while it is given time to listen. @type {NodeJS.Timeout | undefined} */
  #lateness

  /**
   * @param {WorkerHandle} handle @param {Pick<WorkerHandle['terms'], 'required' | 'readyOn' | 'gates'>} terms
   */
  constructor (handle, { required, readyOn, gates = [] }) {
    this.handle = handle
    this.required = required
    this.readyOn = readyOn
    this.#gates = new Set(gates)
  }

  /** The worker lacks nothing. */
  get isMet () {
    return this.handle.bootedAt !== null
  }

  get #isBooting () {
    return this.handle.state === 'spawning' && !this.isMet
  }

  /** @param {string} cause what has just happened, as --ready-on has it */
  check (cause) {
    if (!this.#isBooting || this.#isBooted || cause !== this.readyOn) return
    if (cause === 'listening' && !this.#listens()) return
    this.#isBooted = this.#gates.size > 0
    if (this.#isBooted) this.handle.emit('booted')
    else this.handle.finishBoot()
  }

  /** @param {string} gate a feature's name @param {string | null} refusal null: it lets this worker pass */
  judge (gate, refusal) {
    if (!this.#isBooted || !this.#isBooting) return
    this.refusal = refusal
    if (refusal === null) this.#gates.delete(gate)
    if (this.#gates.size === 0) this.handle.finishBoot()
  }

  #listens () {
    const { must, late, lateMs } = this.required
    if (this.lacks([...must, ...this.handle.asked.keys()]).length > 0) return false
    const isLate = this.lacks(late).length > 0
    if (isLate) this.#lateness ??= setTimeout(() => this.waive(), lateMs).unref()
    return !isLate
  }

  /** @param {Iterable<string>} addresses @returns {string[]} those on which it does not listen */
  lacks (addresses) {
    return [...addresses].filter(key => !this.handle.addresses.has(key))
  }

  /**
   * Of these, it evades: another port it has taken in their place.
   * @param {Iterable<string>} addresses on which it does not listen @returns {string[]}
   */
  evades (addresses) {
    const { asked, tried } = this.handle
    return [...addresses].filter(key => isEvading(key, { asked: asked.keys(), tried, known: this.required.before }))
  }

  /** On what it does not listen. */
  get missing () {
    return this.lacks([...this.required.must, ...this.required.late])
  }

  /** The worker need no longer listen on what it was given time for. @returns {boolean} it is ready by that */
  waive () {
    clearTimeout(this.#lateness)
    const lacking = this.#lateness && this.#isBooting ? this.lacks(this.required.late) : []
    const evaded = this.evades(lacking)
    const late = lacking.filter(key => !evaded.includes(key))
    if (late.length === 0) return false
    this.required = { ...this.required, late: new Set(evaded) }
    this.handle.emit('waived', late)
    this.check('listening')
    return this.isMet
  }
}

module.exports = { Readiness }
