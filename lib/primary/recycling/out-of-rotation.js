'use strict'

/**
 * Takes a worker out of rotation, has it do a task that holds its thread, and brings it back:
 *
 *     ready ──▶ out of rotation: its connections move ──nothing is left──▶ the task ──▶ ready
 *
 * so that no request waits for the task. One worker at a time, and only where another one serves. What the worker does
 * is in lib/worker/leaving/. Each step has its deadline; a worker that dies, drains or is silent meanwhile ends it.
 */

const { RecycleError } = require('../../core/errors')
const { now } = require('../clock')
const { howItLeft } = require('../workers/process')
const { replayAfter } = require('../workers/retirement')
const { Part } = require('../part')
/** @import { Left } from '../workers/process' */
/** @import { Answer as Outcome } from '../workers/channel' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

const EMPTY_MS = 10_000 // out of rotation for longer, an idle TLS connection is not worth it
const SESSIONS_MS = 1000 // the same, where the requests of its sessions wait for it
const ANSWER_MS = 2000

/**
 * @typedef {object} Task
 * @property {string} type its message: `collect`, or one of a feature's
 * @property {object} [fields] @property {number} timeoutMs
 * @property {() => Promise<string | null>} [refusal] asked when nothing is left in the worker: why it is not to be done
 *   after all, or null
 */

class OutOfRotation extends Part {
  /** The worker that is out of rotation. @type {WorkerHandle | null} */
  #handle = null

  /** @param {WorkerHandle} handle @returns {string | null} why it cannot leave rotation now */
  #whyNot (handle) {
    if (this.tenure.isOver) return 'the fleet is stopping'
    if (this.#handle) return 'another worker is out of rotation'
    if (!handle.isServing) return `its worker is ${handle.state}`
    if (handle.slot !== null && this.fleet.slots.get(handle.slot)?.recycle?.old === handle) {
      return 'it is being recycled'
    }
    return this.fleet.serving().length < 2 ? 'no other worker serves' : null
  }

  /**
   * @param {WorkerHandle} handle @param {Task} task
   * @param {(done: Outcome) => Promise<void>} [settle] called while the worker is still out of rotation, where the task
   *   was done
   * @returns {Promise<Outcome>}
   */
  async take (handle, task, settle = async () => {}) {
    const why = this.#whyNot(handle)
    if (why) return { why }
    this.#handle = handle
    const began = now()
    handle.become('out-of-rotation')
    const { slot, pid, latest: { connections, inFlight } } = handle
    this.record('worker.out-of-rotation', { slot, pid, task: task.type, connections, inFlight })
    const deadlineMs = Math.min(this.options.drainTimeoutMs, this.features.hasSessions ? SESSIONS_MS : EMPTY_MS)
    /** @type {Outcome} */
    let outcome = { why: 'the primary has failed' }
    try {
      const left = await ask(handle, 'leave-rotation',
        { deadlineMs, handoff: this.options.handoff, replayAfterMs: this.#replayAfter(deadlineMs) },
        deadlineMs + ANSWER_MS)
      const refusal = left.why === null ? await task.refusal?.() ?? null : null
      const done = refusal !== null
        ? { ...left, why: refusal }
        : left.why === null ? await ask(handle, task.type, task.fields ?? {}, task.timeoutMs) : left
      outcome = { ...done, moved: left.moved ?? 0, emptyMs: left.tookMs ?? null }
      if (done.why === null && handle.state === 'out-of-rotation') await settle(outcome)
    } finally {
      try {
        this.#bringBack(handle, outcome.isHeard === true)
      } finally { // whatever a listener does, the next one may leave
        // After its task, perhaps
        const why = outcome.why ?? (handle.isGone ? `its worker ${howItLeft(/** @type {Left} */ (handle.left))}` : null)
        this.record('worker.in-rotation',
          { slot, pid, task: task.type, why, moved: Number(outcome.moved ?? 0), outMs: now() - began })
        this.#handle = null
        this.changed()
      }
    }
    return outcome
  }

  /**
   * The same, on request: it waits for its turn.
   * @param {number} slot @param {Task & { called: string }} task `called`: what it is, in a sentence
   * @param {(handle: WorkerHandle, done: Outcome) => Promise<void>} [settle]
   * @returns {Promise<Outcome & { handle: WorkerHandle }>} @throws {RecycleError} RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async request (slot, { called, ...task }, settle = async () => {}) {
    // Several may wait, and one of them goes first
    do await this.until(() => this.#handle === null); while (this.#handle)
    const handle = this.fleet.slots.get(slot)?.incumbent
    if (!handle) {
      throw new RecycleError('RECYCLE_NOT_DONE', { slot, what: called, why: 'it has no worker at the moment' })
    }
    const outcome = await this.take(handle, task, done => settle(handle, done))
    if (outcome.why !== null) throw new RecycleError('RECYCLE_NOT_DONE', { slot, what: called, why: outcome.why })
    return { ...outcome, handle }
  }

  /**
   * Nothing is cut on this way, so requests move only where that was asked for beforehand.
   * @param {number} deadlineMs
   */
  #replayAfter (deadlineMs) {
    const afterMs = this.options.replayAfterMs === null ? null : replayAfter(this.options)
    return afterMs !== null && afterMs < deadlineMs ? afterMs : null
  }

  /** Calls the worker back before its task has begun. */
  async rejoin () {
    this.#handle?.order('rejoin')
  }

  /** @param {WorkerHandle} handle @param {boolean} isHeard a worker that does not answer is soon found to be stuck */
  #bringBack (handle, isHeard) {
    if (handle.state !== 'out-of-rotation' || handle.isGone) return
    handle.order('rejoin')
    handle.become('ready')
    if (isHeard) handle.heardAt = now()
    handle.emit('returned')
  }
}

/**
 * @param {WorkerHandle} handle @param {string} type @param {object} fields @param {number} timeoutMs
 * @returns {Promise<Outcome>}
 */
async function ask (handle, type, fields, timeoutMs) {
  if (handle.state !== 'out-of-rotation') return { why: `its worker is ${handle.state}` }
  const answer = await handle.call(type, fields, timeoutMs)
  return isDraining(handle) ? { why: 'it was told to drain' } : answer
}

/** @param {WorkerHandle} handle */
function isDraining ({ state }) {
  return state === 'draining'
}

module.exports = { OutOfRotation }
