'use strict'

/**
 * A process that has loaded the app and from then on only forks. It stands still in one system call: no timer of the
 * app's fires in it, nothing is read, no page of it changes. What wakes it up is an order of the primary's, or a copy's
 * end.
 *
 *     primary                          mold                              copy
 *        │◀─────────────────────────────┤  { held: true }, { frozen: true } or { refused }
 *        │  { fork: 7 } + descriptors   │                                 │
 *        ├─────────────────────────────▶│──────────── fork() ────────────▶│ the descriptors in their places,
 *        │◀─────────────────────────────┤  { forked: 7, pid }             │ goes on from freeze()
 *        │◀───────────────────── the channel, stdout, stderr ────────────▶│
 *        │◀─────────────────────────────┤  { ended: 7, code, signal } ◀───┘
 *
 * In a copy the channel to the primary is the mold's own, with another socket under the same descriptor: what the app
 * and cluster have made of `process.send` before the fork goes on working, and Node has no part in it.
 */

const fs = require('node:fs')
const os = require('node:os')
const tls = require('node:tls')
const { ownMathRandom, reseed, takeIdentity } = require('./identity')
const { PendingTimers } = require('./timers')
const { forked } = require('./on-fork')

const MOST_TURNS = 1000 // an app may ask for an immediate in each

const SIGNALS = new Map(Object.entries(os.constants.signals).reverse().map(([name, number]) => [number, name]))

/**
 * @typedef {object} Order an order of the primary's
 * @property {number} [fork] the number by which the answers name the copy
 * @property {number[]} [places] which descriptors those that come along are to be
 * @property {Record<string, string>} [env]
 * @property {boolean} [retire] to fork no more, and end with the last copy
 */

class Mold {
  timers = new PendingTimers()

  /** @param {import('../../native/addon').Addon} addon @param {number} control the socket to the primary */
  constructor (addon, control) {
    this.addon = addon
    this.control = control
  }

  /** Before the app is loaded. @returns {string | null} what this Node lacks for it */
  prepare () {
    if (!guardExits(this.addon)) return 'node::AtExit'
    if (!this.addon.drainAlone()) return 'node::NodePlatform::DrainTasks'
    ownMathRandom()
    this.timers.watch()
    return null
  }

  /**
   * Stands still, when the immediates that are due have run. Resolves in each copy, once it is one of its own. To be
   * called with nothing under way: nothing in the thread pool or on the channel.
   */
  async freeze () {
    // From Node 22 on, root certificates are loaded in a thread: TLS in a copy that is made meanwhile would wait for it
    // for ever.
    tls.createSecureContext()
    let turns = 0
    do await new Promise(resolve => setImmediate(resolve))
    while (this.timers.hasImmediates && ++turns < MOST_TURNS)
    this.tell({ frozen: true })
    const env = this.#serve()
    // SIGUSR1 starts the inspector, by a thread that is missing
    if (process.listenerCount('SIGUSR1') === 0) this.addon.ignore(os.constants.signals.SIGUSR1)
    takeIdentity(env)
    reseed()
    this.timers.restart()
    await forked()
  }

  /** @returns {Record<string, string>} the copy's environment; in the mold it does not return */
  #serve () {
    /** @type {Map<number, number>} numbers by pid */
    const copies = new Map()
    let isRetiring = false
    for (;;) {
      const event = this.addon.wait(this.control)
      // The primary has gone; its workers finish without it, and so without us
      if (event === null) return this.addon.exit(0)
      if ('pid' in event) {
        const { pid, code, signal } = event
        const ended = copies.get(pid)
        if (copies.delete(pid)) this.tell({ ended, code, signal: SIGNALS.get(signal) ?? null })
      } else {
        const { fork, places = [], env = {}, retire } = /** @type {Order} */ (JSON.parse(event.text))
        if (retire) isRetiring = true
        if (fork !== undefined) {
          const pid = this.#fork(fork, event.descriptors, places)
          if (pid === 0) return env
          if (pid !== null) copies.set(pid, fork)
        }
      }
      if (isRetiring && copies.size === 0) this.addon.exit(0)
    }
  }

  /**
   * @param {number} number @param {number[]} descriptors @param {number[]} places
   * @returns {number | null} 0 in the copy; null: it failed
   */
  #fork (number, descriptors, places) {
    let pid = null
    let answer
    try {
      pid = this.addon.fork(descriptors, places)
      answer = { forked: number, pid }
    } catch (error) {
      answer = { failed: number, errno: /** @type {NodeJS.ErrnoException} */ (error).errno }
    }
    for (const descriptor of pid === 0 ? [this.control] : descriptors) fs.closeSync(descriptor)
    if (pid !== 0) this.tell(answer)
    return pid
  }

  /** Synchronously. @param {Record<string, unknown>} answer */
  tell (answer) {
    try {
      fs.writeSync(this.control, `${JSON.stringify(answer)}\n`)
    } catch {} // the primary has gone: that is what is read next
  }
}

/**
 * How a copy ends. Node joins its threads on the way out, and a copy has none of them: process.exit(), an uncaught
 * exception and a loop that runs empty all hang there, or crash. The addon ends a copy just before that, when every
 * exit handler has run and Node has reported what it reports; all it has to be told is the code.
 * @param {import('../../native/addon').Addon} addon
 * @param {NodeJS.Process} [process] before the app is loaded, so that what the app puts around these two is around ours
 * @returns {boolean} false: this Node has no such hook
 */
function guardExits (addon, process = global.process) {
  if (!addon.guardExits()) return false
  const { emit, reallyExit } = process
  Object.assign(process, {
    /** @this {unknown} @param {string} event @param {unknown[]} args */
    emit (event, ...args) {
      const isHeard = Reflect.apply(emit, this, [event, ...args])
      if (event === 'exit') addon.exitAs(Number(process.exitCode ?? 0))
      return isHeard
    },
    /** @this {unknown} @param {number} code */
    reallyExit (code) {
      addon.exitAs(Number(code ?? 0))
      Reflect.apply(reallyExit, this, [code])
    }
  })
  return true
}

module.exports = { Mold }
