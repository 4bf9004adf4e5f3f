'use strict'

/**
 * `--health`: probes each worker by itself, from when it listens until it leaves. A new worker becomes ready with the
 * first probe that it passes; from then on failures in a row are a figure of its samples, and the verdict judges it.
 */

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { probe } = require('./probe')
const { detachHandle } = require('../../core/internals')
const { loadAddon } = require('../../native/addon')
const { Descriptor } = require('../../native/descriptor')
/** @import { Handle } from '../../core/internals' */
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
    this.kernel.warnings.over('health')
    const found = await probe(handle, pair, { path: String(path), timeoutMs, cancel })
    if (found.isSkipped || (!isHealthy(found) && (began <= this.#wokeAt || await handle.isDebugged()))) return
    const known = knownOf(handle)
    const earlier = known.why
    const failures = known.failures = countFailures(known.failures, found)
    const why = known.why = isHealthy(found) ? null : failureOf(found, String(path))
    if (failures === 1 || failures === most || why !== earlier) {
      record('worker.health', { slot: handle.slot, pid: handle.pid, failures, why, tookMs: Math.round(now() - began) })
    }
    if (why === null) known.isPassed = true
    handle.readiness.judge('health', why === null ? null : `it fails its health check: ${why}`)
    if (healthAction === 'rotate') this.kernel.rotation.wish(handle, 'health', failures >= most ? why : null)
  }

  /** @param {Error} error for which no worker can be probed */
  #tell (error) {
    this.kernel.warnings.warnOnce({ warning: 'health', why: error.message })
    return null
  }
}

/** @param {WorkerHandle} handle @returns {Known} */
const knownOf = ({ known }) => known.health

/**
 * `--health`: what a probe found, and when the next is due. Period, timeout, failure threshold and initial delay are
 * those of a probe in Kubernetes. A worker that boots is probed more often, so that it becomes ready soon after it can.
 *
 * @typedef {object} Found by one probe
 * @property {number | null} status of the response; null: there was none
 * @property {string | null} why there was none
 * @property {boolean} [isSkipped] the probe could not be made, which says nothing about the worker
 */

const BOOT_PERIOD_MS = 250

/** As a probe in Kubernetes: a redirect is a success. @param {Found} found */
const isHealthy = ({ status }) => status !== null && status >= 200 && status < 400

/** @param {Found} found @param {string} path @returns {string} the failure, in words */
const failureOf = ({ status, why }, path) => `GET ${path}: ${status === null ? why : `status ${status}`}`

/** @param {number} failures in a row before @param {Found} found @returns {number} failures in a row */
function countFailures (failures, found) {
  if (found.isSkipped) return failures
  return isHealthy(found) ? 0 : failures + 1
}

/**
 * @param {boolean} isUp it has passed a probe @param {number} periodMs
 * @returns {number} ms from the begin of a probe to that of the next
 */
const nextProbeMs = (isUp, periodMs) => isUp ? periodMs : Math.min(BOOT_PERIOD_MS, periodMs)

/**
 * Two ends of one connection: one for this process, and one for a worker. No other user of the machine can reach
 * either: the kernel makes both at once, or, without the addon, the one listens for the other in a folder that is this
 * user's alone.
 */

const LONGEST_NAME = 100 // bytes

/**
 * @param {Pick<import('../../native/addon').Addon, 'socketpair'> | null} [addon]
 * @returns {Promise<{ near: net.Socket, far: Handle | Descriptor }>} `far`: nothing is read of it
 * @throws {Error} for want of a descriptor, say
 */
async function openPair (addon = loadAddon().addon) {
  if (!addon) return connectPair()
  const [near, far] = addon.socketpair()
  return { near: new net.Socket({ fd: near }), far: new Descriptor(far) }
}

/** @returns {Promise<{ near: net.Socket, far: Handle | Descriptor }>} */
async function connectPair () {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-')) // its mode is 0700
  const server = net.createServer({ pauseOnConnect: true })
  try {
    const file = path.join(folder, 'probe')
    // A longer path would be cut, and the rest is another folder
    if (Buffer.byteLength(file) > LONGEST_NAME) {
      throw new Error(`${os.tmpdir()} is too long a name for a folder of sockets`)
    }
    await once(server.listen(file), 'listening')
    const near = net.connect(file).on('error', error => server.emit('error', error))
    const [far] = await once(server, 'connection')
    near.removeAllListeners('error')
    return { near, far: detachHandle(far) }
  } finally {
    server.close()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

module.exports = { HealthChecks, countFailures, failureOf, isHealthy, nextProbeMs, openPair }
