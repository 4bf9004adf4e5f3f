'use strict'

/**
 * In the primary: looks at how long each worker has been silent, has one that is blocked replaced, and killed once it
 * leaves. The kernel's own rule for one that leaves, which does not ask why it is silent, is in
 * lib/primary/workers/retirement.js.
 */

const fs = require('node:fs')
const { attempt } = require('../../core/attempt')
const { every } = require('../../native/every')
const { loadInterrupt } = require('./interrupt')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const LOOK_MS = 500
const SILENT_MS = 1000 // a heartbeat comes twice a second
const TELL_MS = 10_000 // that it is given to say where it is: where JavaScript runs, it takes a few

/**
 * @typedef {object} Watched a worker
 * @property {Silence} silence
 * @property {number | null} toldAt when it was heard last before the block that is in the journal; null: none is
 * @property {boolean | null} isDebugged by the latest look, since it is silent; null: not known yet
 * @property {Promise<void> | null} looking whether it is
 * @property {boolean} isStopTold @property {boolean} isKilled @property {Promise<void> | null} telling
 * @property {(where: Where) => void} onWhere called when it says where it is
 *
 * @typedef {object} Where a worker is, as far as it says
 * @property {string | null} [request] whose code runs: method and path
 * @property {number | null} [serial] of its connection
 * @property {readonly { request: string, count: number }[] | null} [requests] in flight, latest first
 * @property {string[] | null} [stack] innermost first
 */

class BlockedLoops {
  /** @type {Map<WorkerHandle, Watched>} */
  #workers = new Map()
  #count = 0
  /** Of the latest. @type {Required<Omit<Where, 'serial'>> | null} */
  #latest = null

  /**
   * @param {import('../../primary/parts').Parts} kernel
   * @param {{ look?: typeof stoppedBy, missing?: string | null }} [by] `missing`: why workers cannot tell
   */
  constructor (kernel, { look = stoppedBy, missing = loadInterrupt().missing } = {}) {
    this.kernel = kernel
    this.stoppedBy = look
    this.missing = missing
    this.limitMs = kernel.options.stuckTimeoutMs
    this.silentMs = Math.min(SILENT_MS, this.limitMs / 2)
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    if (this.missing !== null) this.kernel.warnings.warnOnce({ warning: 'blocked-addon', why: this.missing })
    handle.known.blocked = { forMs: 0 }
    this.#workers.set(
      handle, {
        silence: new Silence(),
        toldAt: null,
        isDebugged: null,
        looking: null,
        isStopTold: false,
        isKilled: false,
        telling: null,
        onWhere () {}
      }
    )
    const end = every(Math.min(LOOK_MS, this.limitMs / 10), () => this.#look(handle))
    handle.hear({ where: where => this.#workers.get(handle)?.onWhere(where) })
    handle.on('leaving', () => setImmediate(() => this.#look(handle))) // it is in the journal that it drains
    handle.once('exit', () => {
      this.#workers.delete(handle)
      end()
    })
  }

  /** Resolves when it is in the journal where its event loop is blocked, if it is. @param {WorkerHandle} handle */
  async beforeKill (handle) {
    if (this.#blockedMs(handle) >= this.silentMs) await this.#tell(handle)
  }

  /** This process did not run for a while: what workers have said meanwhile has yet to be read. */
  wake () {
    const at = this.kernel.now()
    for (const { silence } of this.#workers.values()) silence.beginAnew(at)
  }

  describe () {
    return { count: this.#count, latest: this.#latest, why: this.missing }
  }

  /** @param {WorkerHandle} handle */
  #look (handle) {
    const blockedMs = this.#blockedMs(handle)
    handle.known.blocked.forMs = blockedMs >= this.silentMs ? blockedMs : 0
    if (blockedMs < this.limitMs) return
    if (handle.isWatched) {
      if (handle.condemnation.requested === null) this.kernel.sampler.replace(handle, 'stuck')
      this.#tell(handle)
    } else if (handle.state === 'draining' && handle.account === null) {
      this.#kill(handle)
    }
  }

  /** @param {WorkerHandle} handle */
  #kill (handle) {
    const watched = this.#workers.get(handle)
    if (!watched || watched.isKilled) return
    watched.isKilled = true
    this.kernel.lifecycle.kill(handle, 'blocked')
  }

  /** @param {WorkerHandle} handle @returns {number} 0 also for one that is held */
  #blockedMs (handle) {
    const watched = this.#workers.get(handle)
    // A collection or a heap snapshot blocks it, and has a limit of its own
    if (!watched || !handle.hasEntered || handle.state === 'out-of-rotation') return 0
    const at = this.kernel.now()
    const isSilent = at - handle.heardAt >= this.silentMs
    const by = !isSilent ? null : this.#isDebugged(handle, watched) ? 'debugger' : this.stoppedBy(handle.pid)
    if (!isSilent) watched.isDebugged = null
    const { blockedMs, stoppedMs } = watched.silence.look(at, { heardAt: handle.heardAt, isStopped: by !== null })
    if (stoppedMs >= this.limitMs && handle.isWatched && !watched.isStopTold) {
      this.kernel.record('fleet.warning',
        { warning: 'stopped', slot: handle.slot, pid: handle.pid, by, forMs: stoppedMs })
    }
    watched.isStopTold = stoppedMs >= this.limitMs
    return blockedMs
  }

  /** Until it is known, it may be. @param {WorkerHandle} handle @param {Watched} watched */
  #isDebugged (handle, watched) {
    if (handle.inspectorPort === null) return false
    watched.looking ??= handle.isDebugged().then(isDebugged => {
      watched.isDebugged = isDebugged
      watched.looking = null
    })
    return watched.isDebugged ?? true
  }

  /** Once for each block. @param {WorkerHandle} handle @returns {Promise<void>} */
  #tell (handle) {
    const watched = /** @type {Watched} */ (this.#workers.get(handle))
    if (watched.toldAt === handle.heardAt) return watched.telling ?? Promise.resolve()
    watched.toldAt = handle.heardAt
    watched.telling = this.#where(handle, watched).then(where => {
      const { slot, pid, heardAt, latest: { inFlight } } = handle
      const line = { slot, pid, blockedMs: this.kernel.now() - heardAt, inFlight, ...where }
      this.#count++
      this.#latest = { request: where.request, requests: where.requests, stack: where.stack }
      this.kernel.record('worker.blocked', line)
    })
    return watched.telling
  }

  /** Where a worker is; null: it does not say. @param {WorkerHandle} handle @param {Watched} watched */
  async #where (handle, watched) {
    /** @type {Promise<Where>} */
    const told = new Promise(resolve => { watched.onWhere = resolve })
    const silent = handle.next(['exit'], TELL_MS).then(() => /** @type {Where} */ ({}))
    handle.process.kill('SIGURG')
    const { request = null, requests = null, stack = null, serial = null } = await Promise.race([told, silent])
    handle.blockedBy = serial
    return { request, requests, stack }
  }
}

/**
 * For how long the event loop of a worker has been blocked, by when it was heard last. While it cannot run for another
 * reason (a signal or a debugger has stopped it), its silence says nothing.
 */

class Silence {
  /** A silence is counted from here at the earliest. */
  #sparedAt = -Infinity
  /** Since when it has not been able to run. @type {number | null} */
  #stoppedSince = null

  /** @param {number} at @param {{ heardAt: number, isStopped: boolean }} seen now */
  look (at, { heardAt, isStopped }) {
    if (isStopped) {
      this.#sparedAt = at
      this.#stoppedSince ??= heardAt
    } else {
      this.#stoppedSince = null
    }
    return {
      blockedMs: Math.max(0, at - Math.max(heardAt, this.#sparedAt)),
      stoppedMs: this.#stoppedSince === null ? 0 : at - this.#stoppedSince
    }
  }

  /** A silence from before says nothing. @param {number} at now */
  beginAnew (at) {
    this.#sparedAt = at
  }
}

/**
 * Whether something else than its own code keeps a process from running.
 * @param {number} pid @param {(pid: number) => string} [read]
 * @returns {'signal' | 'debugger' | null} stopped by a signal, or held by gdb, strace and the like; null also where
 *   there is no /proc
 */
function stoppedBy (pid, read = statusOf) {
  const status = read(pid)
  if (/^TracerPid:\t[1-9]/m.test(status)) return 'debugger'
  return /^State:\tT/m.test(status) ? 'signal' : null
}

/** @param {number} pid @returns {string} empty where it is not told */
const statusOf = pid => attempt(() => fs.readFileSync(`/proc/${pid}/status`, 'latin1'), '')

module.exports = { BlockedLoops, Silence, stoppedBy }
