'use strict'

/**
 * `--health`: probes each worker by itself, from when it listens until it leaves. A new worker becomes ready with the first probe
 * that it passes; from then on failures in a row are a figure of its samples, and the verdict judges it.
 */

const { countFailures, failureOf, isHealthy, nextProbeMs } = require('../../core/health-check')
const { now } = require('../clock')
const { probe } = require('./probe')
const { openPair } = require('./socket-pair')

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

const PROBED = ['spawning', 'standby', 'ready']
const OVER = ['draining', 'retired', 'crashed']

class HealthChecks {
  /** Since the last probe that could be made. */
  #isTold = false
  /** When this process ran again after it had not for a while: a failure of a probe of before then says nothing. */
  #wokeAt = -Infinity

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options with a path
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   * @param {typeof openPair} [deps.open]
   */
  constructor ({ options, record, open = openPair }) {
    this.options = options
    this.record = record
    this.open = open
  }

  /** @param {WorkerHandle} handle one that has just been spawned */
  connect (handle) {
    handle.once('booted', () => this.#start(handle))
  }

  /** This process, and the workers perhaps, did not run for a while. @param {WorkerHandle[]} handles */
  wake (handles) {
    this.#wokeAt = now()
    for (const { health } of handles) health.failures = 0
  }

  /** @param {WorkerHandle} handle */
  #start (handle) {
    /** @type {NodeJS.Timeout} */
    let timer
    /** Of the probe under way. */
    let cancel = new AbortController()
    const step = async () => {
      const began = now()
      cancel = new AbortController()
      await this.#probe(handle, cancel)
      if (!OVER.includes(handle.state)) timer = setTimeout(step, Math.max(0, nextProbeMs(handle.health.isPassed, this.options.healthPeriodMs) - (now() - began)))
    }
    timer = setTimeout(step, this.options.healthInitialDelayMs)
    for (const event of ['leaving', 'exit']) {
      handle.once(event, () => {
        clearTimeout(timer)
        cancel.abort()
      })
    }
  }

  /** @param {WorkerHandle} handle @param {AbortController} cancel */
  async #probe (handle, cancel) {
    if (!PROBED.includes(handle.state) || handle.latest.debugged) return
    const { health: path, healthTimeoutMs: timeoutMs, healthFailureThreshold } = this.options
    const began = now()
    const pair = await this.open().catch(error => this.#tell(error))
    if (pair === null) return
    this.#isTold = false
    const found = await probe(handle, pair, { path: String(path), timeoutMs, cancel })
    if (found.isSkipped || (began <= this.#wokeAt && !isHealthy(found))) return
    const { failures: before, why: earlier } = handle.health
    const failures = countFailures(before, found)
    const why = isHealthy(found) ? null : failureOf(found, String(path))
    Object.assign(handle.health, { failures, why })
    if (failures === 1 || failures === healthFailureThreshold || why !== earlier) {
      this.record('worker.health', { slot: handle.slot, pid: handle.pid, failures, why, tookMs: Math.round(now() - began) })
    }
    if (why === null) handle.pass()
    handle.emit('health')
  }

  /** @param {Error} error for which no worker can be probed */
  #tell (error) {
    if (!this.#isTold) this.record('fleet.warning', { warning: 'health', why: error.message })
    this.#isTold = true
    return null
  }
}

module.exports = { HealthChecks }
