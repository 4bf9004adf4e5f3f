'use strict'

/**
 * Failures in the primary itself: a defect of recycle, or a lack of the system's (descriptors, memory). It is in the
 * journal, and ends only what it was: a fleet that has served goes on, and what is still due is tried again at the next
 * look. Where no worker has served yet, or another primary can run the fleet, this one ends.
 */

const { RecycleError } = require('../core/errors')
const { now } = require('./clock')
const { Part } = require('./part')

const QUIET_MS = 60_000 // the same failure is told once in that time
const MOST_KINDS = 100
const LONGEST_STACK = 2000

/** @extends {Part<object, 'fleet' | 'tenure' | 'record' | 'abandon'>} */
class Failures extends Part {
  /** When each was last told. @type {Map<string, number>} */
  #told = new Map()

  /** @param {string} what has failed @param {unknown} error */
  note (what, error) {
    const { message = String(error), stack = '', syscall } = /** @type {NodeJS.ErrnoException} */ (error ?? {})
    const why = syscall
      ? message
      : [message, stack.split('\n').find(line => /^ +at /.test(line))?.trim()].filter(Boolean).join(' ')
    const isOfUse = this.tenure.hasBegun && this.fleet.list().some(({ isNew }) => !isNew)
    if (!isOfUse) this.abandon(new RecycleError('RECYCLE_PRIMARY_FAILED', { what, why }))
    const kind = `${what}: ${why}`
    if (now() - (this.#told.get(kind) ?? -Infinity) < QUIET_MS) return
    if (this.#told.size >= MOST_KINDS) this.#told.clear()
    this.#told.set(kind, now())
    this.record('fleet.warning', { warning: 'primary-failed', what, why, stack: stack.slice(0, LONGEST_STACK) })
  }

  /** Where this process is the fleet's alone: also what no task of ours has caught. */
  watchProcess () {
    process.on('uncaughtException',
      (error, origin) => this.note(origin === 'unhandledRejection' ? 'a promise' : 'an event', error))
  }
}

module.exports = { Failures }
