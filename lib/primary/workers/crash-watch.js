'use strict'

/**
 * Tells that workers crash again and again, and with which requests in flight. A worker that exits tells them itself;
 * one that is killed cannot. So from the first sudden death on the workers tell each request as it begins, for a minute
 * after the last.
 */

const { Crashes } = require('../../core/crashes')
const { now } = require('../clock')
const { Part } = require('../part')
/** @import { WorkerHandle } from './worker-handle' */

const ALERT_MS = 60_000
const AGAIN_MS = 10_000 // it is said again
const SOON_MS = 1000 // or that another request is suspected

class CrashWatch extends Part {
  #crashes = new Crashes()
  #alertUntil = 0
  #saidAt = -Infinity
  /** @type {string | undefined} */
  #saidOf

  /** @param {WorkerHandle} handle one that has just been spawned */
  connect (handle) {
    handle.once('entered', () => {
      const forMs = this.#alertUntil - now()
      if (forMs > 0) handle.order('tell-requests', { forMs })
    })
  }

  /** For the status. */
  describe () {
    return this.#crashes.describe(now())
  }

  /**
   * @param {WorkerHandle} handle
   * @param {{ code: number | null, signal: string | null, error?: string, oomKilled: boolean }} how it has crashed
   */
  crashed (handle, { code, signal, error, oomKilled }) {
    if (handle.process.killedFor !== null || error) return // no deed of its own, and no process
    const at = now()
    if (signal !== null) {
      this.#alertUntil = at + ALERT_MS
      for (const other of this.fleet.all()) {
        if (other !== handle && other.hasEntered) other.order('tell-requests', { forMs: ALERT_MS })
      }
    }
    this.features.crashed(handle, true)
    this.note(oomKilled ? 'the kernel, because memory ran out' : signal ?? `exit code ${code}`, handle.requests)
  }

  /**
   * An exception that its app has not caught counts as a crash: the worker leaves for it.
   * @param {WorkerHandle} handle @param {string} how @param {string | null} request that has caused it
   */
  threw (handle, how, request) {
    this.note(how, request === null ? [] : [{ request, count: 1 }])
    this.features.crashed(handle, false)
  }

  /** @param {string} how @param {import('../../core/crashes').InFlight[]} requests that were in flight */
  note (how, requests) {
    const at = now()
    this.#crashes.add({ at, how, requests })
    const crashing = this.describe()
    if (crashing === null) return
    const suspect = crashing.requests[0]?.request
    if (at - this.#saidAt < (suspect === this.#saidOf ? AGAIN_MS : SOON_MS)) return
    this.#saidAt = at
    this.#saidOf = suspect
    this.record('fleet.warning', { warning: 'crashing', ...crashing })
  }
}

module.exports = { CrashWatch }
