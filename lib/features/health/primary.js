'use strict'

/**
 * `--health`: probes each worker by itself, from when it listens until it leaves. A new worker becomes ready with the
 * first probe that it passes; from then on failures in a row are a figure of its samples, and the verdict judges it.
 */

const { countFailures, failureOf, isHealthy, nextProbeMs } = require('./check')
const { probe } = require('./probe')
const { openPair } = require('./socket-pair')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/**
 * @typedef {object} Known of a worker
 * @property {number} failures probes in a row
 * @property {string | null} why the latest has failed
 * @property {boolean} isPassed it has passed one
 */

const PROBED = ['spawning', 'standby', 'ready']
const OVER = ['draining', 'retired', 'crashed']

class HealthChecks {
  /** Since the last probe that could be made. */
  #isTold = false
  /** When this process ran again after it had not for a while: a failure of a probe of before then says nothing. */
  #wokeAt = -Infinity
  /** @type {Set<WorkerHandle>} */
  #workers = new Set()

  /** @param {import('../../primary/parts').Parts} kernel @param {typeof openPair} [open] */
  constructor (kernel, open = openPair) {
    this.kernel = kernel
    this.open = open
  }

  /** @param {WorkerHandle} handle one that has just been spawned */
  connect (handle) {
    handle.known.health = { failures: 0, why: null, isPassed: false }
    this.#workers.add(handle)
    handle.once('booted', () => this.#start(handle))
    handle.once('exit', () => this.#workers.delete(handle))
  }

  /** @param {WorkerHandle} handle */
  probe (handle) {
    return () => ({ healthFailures: knownOf(handle).failures })
  }

  /** This process, and the workers perhaps, did not run for a while. */
  wake () {
    this.#wokeAt = this.kernel.now()
    for (const handle of this.#workers) knownOf(handle).failures = 0
  }

  /** @param {WorkerHandle} handle */
  #start (handle) {
    const { options, now } = this.kernel
    /** @type {NodeJS.Timeout} */
    let timer
    /** Of the probe under way. */
    let cancel = new AbortController()
    const step = async () => {
      const began = now()
      cancel = new AbortController()
      await this.#probe(handle, cancel)
      if (!OVER.includes(handle.state)) {
        timer = setTimeout(
          step, Math.max(0, nextProbeMs(knownOf(handle).isPassed, options.healthPeriodMs) - (now() - began))
        )
      }
    }
    handle.readiness.judge('health', `GET ${options.health} has not been answered yet`)
    timer = setTimeout(step, options.healthInitialDelayMs)
    for (const event of ['leaving', 'exit']) {
      handle.once(event, () => {
        clearTimeout(timer)
        cancel.abort()
      })
    }
  }

  /** @param {WorkerHandle} handle @param {AbortController} cancel */
  async #probe (handle, cancel) {
    if (!PROBED.includes(handle.state)) return
    const {
      options: { health: path, healthTimeoutMs: timeoutMs, healthFailureThreshold: most, healthAction }, now, record
    } = this.kernel
    const began = now()
    const pair = await this.open().catch(error => this.#tell(error))
    if (pair === null) return
    this.#isTold = false
    const found = await probe(handle, pair, { path: String(path), timeoutMs, cancel })
    if (found.isSkipped || (!isHealthy(found) && (began <= this.#wokeAt || await handle.isDebugged()))) return
    const known = knownOf(handle)
    const earlier = known.why
    const failures = known.failures = countFailures(known.failures, found)
    const why = known.why = isHealthy(found) ? null : failureOf(found, String(path))
    if (failures === 1 || failures === most || why !== earlier) record('worker.health', { slot: handle.slot, pid: handle.pid, failures, why, tookMs: Math.round(now() - began) })
    if (why === null) known.isPassed = true
    handle.readiness.judge('health', why === null ? null : `it fails its health check: ${why}`)
    if (healthAction === 'rotate') this.kernel.rotation.wish(handle, 'health', failures >= most ? why : null)
  }

  /** @param {Error} error for which no worker can be probed */
  #tell (error) {
    if (!this.#isTold) this.kernel.record('fleet.warning', { warning: 'health', why: error.message })
    this.#isTold = true
    return null
  }
}

/** @param {WorkerHandle} handle @returns {Known} */
function knownOf ({ known }) {
  return known.health
}

module.exports = { HealthChecks }
