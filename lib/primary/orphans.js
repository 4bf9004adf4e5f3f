'use strict'

/**
 * Processes that the app has left behind: the kernel makes them children of PID 1, and they stay as zombies until PID 1
 * has collected their exits. Node collects those of its own children alone. This collects the others, and leaves Node's
 * to Node: every child that Node starts is announced by a diagnostics channel.
 */

const { ChildProcess } = require('node:child_process')
const diagnostics = require('node:diagnostics_channel')
const { loadAddon } = require('../native/addon')

const AGAIN_MS = 100 // one of Node's own is first in the kernel's list, and Node has not come round to it yet

class Orphans {
  /** Node's own, while their exit is not collected. @type {Set<ChildProcess>} */
  #ours = new Set()
  /** @type {import('../native/addon').Addon | undefined} */
  #addon
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /** To be made before this process starts any. */
  constructor () {
    diagnostics.subscribe('child_process', this.#meet)
  }

  /** @returns {string | null} why they cannot be collected */
  watch () {
    const { addon, missing } = loadAddon()
    if (missing !== null) return missing
    const probe = new ChildProcess() // one that is never started
    if (!this.#ours.delete(probe)) return 'this Node.js does not announce the children that it starts'
    this.#addon = addon
    process.on('SIGCHLD', this.#collectSoon)
    this.#collectSoon()
    return null
  }

  close () {
    process.removeListener('SIGCHLD', this.#collectSoon)
    diagnostics.unsubscribe('child_process', this.#meet)
    clearTimeout(this.#timer)
  }

  #meet = (/** @type {unknown} */ message) => {
    const { process: child } = /** @type {{ process: import('node:child_process').ChildProcess }} */ (message)
    this.#ours.add(child)
    child.once('exit', () => this.#ours.delete(child))
    child.once('error', () => { if (child.pid === undefined) this.#ours.delete(child) }) // it could not be started
  }

  #collectSoon = () => {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#collect(), 0) // behind Node's own handler of the same signal
  }

  #collect () {
    const ours = new Set([...this.#ours].map(({ pid }) => pid))
    for (let pid; (pid = this.#addon?.exited());) {
      if (ours.has(pid)) {
        this.#timer = setTimeout(() => this.#collect(), AGAIN_MS)
        return
      }
      this.#addon?.collect(pid)
    }
  }
}

module.exports = { Orphans }
