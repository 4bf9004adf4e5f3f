'use strict'

/**
 * Workers that are out of the rotation, whose idle connections move to others:
 *
 *     for a while    the app has paused it, or a feature wants it so. The state is `ready` all the same: such a worker
 *                    is measured, probed and recycled as any other, and serves on what cannot move
 *     for a task     that holds its thread, so that no request waits for it: one at a time, where another serves.
 *                    Each step has its deadline; a worker that dies, drains or is silent meanwhile ends it. One that
 *                    is out for a while already does the task there, and stays out:
 *                    ready ──▶ out of rotation ──nothing is left──▶ the task ──▶ ready
 *
 * What the worker does is in lib/worker/leaving/.
 */

const { setTimeout: sleep } = require('node:timers/promises')
const { notDone } = require('../../core/errors')
const { rotate } = require('../../core/rotation')
const { now } = require('../clock')
const { howItLeft } = require('../workers/process')
const { replayAfter } = require('../workers/retirement')
const { Part } = require('../part')
/** @import { Answers, Does } from '../../messages' */
/** @import { Left } from '../workers/process' */
/** @import { Answer, Done, NotDone } from '../workers/worker-channel' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

const FOR_GOOD_MS = 2 ** 31 - 1
const EMPTY_MS = 10_000 // out of rotation for longer, an idle TLS connection is not worth it
const SESSIONS_MS = 1000 // the same, where the requests of its sessions wait for it
const ANSWER_MS = 2000
const APP = 'app'

/**
 * @template {keyof Answers} Verb
 * @typedef {Done<Verb> & { moved: number, emptyMs: number }} TaskDone `emptyMs`: how long the worker took to leave
 */

/**
 * @template {keyof Answers} Verb
 * @typedef {object} Task
 * @property {Verb} type `collect`, or a verb of a feature's
 * @property {Does[Verb]} fields @property {number} timeoutMs
 * @property {() => Promise<string | null>} [refusal] asked when nothing is left in the worker: why it is not to be done
 *   after all, or null
 */

class Rotation extends Part {
  /** Why each is to be out, by what wants it. @type {WeakMap<WorkerHandle, Map<string, string>>} */
  #wishes = new WeakMap()
  /** Workers of which it has been said that they stay in. @type {WeakSet<WorkerHandle>} */
  #kept = new WeakSet()
  /** The worker that is out for a task. @type {WorkerHandle | null} */
  #atTask = null

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.hear({
      pause: ({ reason, isOver }) => this.wish(handle, APP, isOver ? null : reason || 'the app has paused it')
    })
    for (const event of ['ready', 'returned', 'leaving', 'exit']) handle.on(event, () => this.#arrange())
  }

  /**
   * @param {WorkerHandle} handle @param {string} by what wants it out, or does no more
   * @param {string | null} why null: it may return
   */
  wish (handle, by, why) {
    const wishes = this.#wishes.get(handle) ?? new Map()
    this.#wishes.set(handle, wishes)
    if (why === null) wishes.delete(by)
    else wishes.set(by, why)
    this.#arrange()
  }

  /** The app's own first. @param {WorkerHandle} handle @returns {string | null} */
  #wishOf (handle) {
    const wishes = this.#wishes.get(handle)
    return wishes?.get(APP) ?? wishes?.values().next().value ?? null
  }

  #arrange () {
    if (this.tenure.isOver) return
    const members = this.fleet.serving()
      .map(handle => ({ handle, wish: this.#wishOf(handle), outSince: handle.out?.since ?? null }))
    const { out, back, kept } = rotate(members)
    for (const { handle, wish } of back) this.#resume(handle, wish === null ? null : 'no other worker is in rotation')
    for (const { handle, wish } of out) this.#pause(handle, /** @type {string} */ (wish))
    for (const { handle, wish } of kept) {
      if (!this.#kept.has(handle)) {
        this.record('fleet.warning', { warning: 'kept-in-rotation', slot: handle.slot, pid: handle.pid, why: wish })
      }
      this.#kept.add(handle)
    }
    for (const { handle, wish } of members) if (wish === null) this.#kept.delete(handle)
  }

  /** @param {WorkerHandle} handle @param {string} why */
  #pause (handle, why) {
    const left = { since: now(), why, emptied: Promise.resolve() }
    handle.out = left
    const { slot, pid, connections, latest: { inFlight } } = handle
    this.record('worker.paused', { slot, pid, why, connections, inFlight })
    const order = { ...this.#order(FOR_GOOD_MS), isPatient: true }
    left.emptied = handle.call('leave-rotation', order, Infinity).then(({ why }) => {
      // The worker is out for a task, or leaves; the next event asks again
      if (why !== null && handle.out === left) handle.out = null
    })
  }

  /** @param {WorkerHandle} handle @param {string | null} why though it is to be out */
  #resume (handle, why) {
    const outMs = now() - Number(handle.out?.since)
    handle.out = null
    handle.order('rejoin')
    this.record('worker.resumed', { slot: handle.slot, pid: handle.pid, why, outMs })
    if (why !== null) this.#kept.add(handle)
  }

  /** Nothing is cut this way: requests move only where that was asked for beforehand. @param {number} deadlineMs */
  #order (deadlineMs) {
    const afterMs = this.options.replayAfterMs === null ? null : replayAfter(this.options)
    const replayAfterMs = afterMs !== null && afterMs < deadlineMs ? afterMs : null
    return { deadlineMs, handoff: this.options.handoff, replayAfterMs }
  }

  /** @param {WorkerHandle} handle @returns {string | null} why it cannot leave for a task now */
  #whyNot (handle) {
    if (this.tenure.isOver) return 'the fleet is stopping'
    if (this.#atTask) return 'another worker is out of rotation'
    if (!handle.isServing) return `its worker is ${handle.state}`
    if (handle.slot !== null && this.fleet.slots.get(handle.slot)?.recycle?.old === handle) {
      return 'it is being recycled'
    }
    const others = this.fleet.serving().filter(other => other !== handle && !other.out)
    return others.length === 0 ? 'no other worker serves' : null
  }

  /**
   * Has a worker do a task.
   * @template {keyof Answers} Verb
   * @param {WorkerHandle} handle @param {Task<Verb>} task
   * @param {(done: TaskDone<Verb>) => Promise<void>} [settle] called while the worker is out, where the task was done
   * @returns {Promise<TaskDone<Verb> | NotDone>}
   */
  async take (handle, task, settle = async () => {}) {
    const why = this.#whyNot(handle)
    if (why) return { why }
    this.#atTask = handle
    const began = now()
    handle.become('out-of-rotation')
    const { slot, pid, latest: { connections, inFlight } } = handle
    const about = { slot, pid, task: /** @type {string} */ (task.type) }
    this.record('worker.out-of-rotation', { ...about, connections, inFlight })
    /** @type {TaskDone<Verb> | NotDone} */
    let outcome = { why: 'the primary has failed' }
    try {
      outcome = await this.#perform(handle, task)
      if (outcome.why === null && handle.state === 'out-of-rotation') await settle(outcome)
    } finally {
      try {
        bringBack(handle, outcome.isHeard === true)
      } finally { // whatever a listener does, the next one may leave
        // After its task, perhaps
        const why = outcome.why ?? (handle.isGone ? `its worker ${howItLeft(/** @type {Left} */ (handle.left))}` : null)
        this.record('worker.in-rotation', { ...about, why, moved: outcome.moved ?? 0, outMs: now() - began })
        this.#atTask = null
        this.changed()
      }
    }
    return outcome
  }

  /**
   * @template {keyof Answers} Verb @param {WorkerHandle} handle @param {Task<Verb>} task
   * @returns {Promise<TaskDone<Verb> | NotDone>}
   */
  async #perform (handle, { type, fields, timeoutMs, refusal }) {
    const deadlineMs = Math.min(this.options.drainTimeoutMs, this.features.hasSessions ? SESSIONS_MS : EMPTY_MS)
    if (handle.out) {
      await Promise.race([handle.out.emptied, sleep(deadlineMs, undefined, { ref: false })])
      if (!handle.out) return { why: 'it was called back' }
    }
    const left = await ask(handle, 'leave-rotation', this.#order(deadlineMs), deadlineMs + ANSWER_MS)
    if (left.why !== null) return left
    const { moved, tookMs: emptyMs, isHeard } = left
    const why = await refusal?.() ?? null
    if (why !== null) return { why, moved, isHeard }
    return Object.assign(await ask(handle, type, fields, timeoutMs), { moved, emptyMs })
  }

  /**
   * The same, on request: it waits for its turn.
   * @template {keyof Answers} Verb
   * @param {number} slot @param {Task<Verb> & { called: string }} task `called`: what it is, in a sentence
   * @param {(handle: WorkerHandle, done: TaskDone<Verb>) => Promise<void>} [settle]
   * @returns {Promise<TaskDone<Verb> & { handle: WorkerHandle }>}
   * @throws {RecycleError} RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async request (slot, { called, ...task }, settle = async () => {}) {
    // Several may wait, and one of them goes first
    do await this.until(() => this.#atTask === null); while (this.#atTask)
    const handle = this.fleet.slots.get(slot)?.incumbent
    if (!handle) throw notDone(slot, called, 'it has no worker at the moment')
    const outcome = await this.take(handle, task, done => settle(handle, done))
    if (outcome.why !== null) throw notDone(slot, called, outcome.why)
    return Object.assign(outcome, { handle })
  }

  /** Calls the worker back before its task has begun. */
  async rejoin () {
    if (this.#atTask?.out) this.#resume(this.#atTask, 'no other worker is in rotation')
    else this.#atTask?.order('rejoin')
  }
}

/** @param {WorkerHandle} handle @param {boolean} isHeard a worker that does not answer is soon found to be stuck */
function bringBack (handle, isHeard) {
  if (handle.state !== 'out-of-rotation' || handle.isGone) return
  if (!handle.out) handle.order('rejoin')
  handle.become('ready')
  if (isHeard) handle.heardAt = now()
  handle.emit('returned')
}

/**
 * @template {keyof Answers} Verb
 * @param {WorkerHandle} handle @param {Verb} type @param {Does[Verb]} fields @param {number} timeoutMs
 * @returns {Promise<Answer<Verb>>}
 */
async function ask (handle, type, fields, timeoutMs) {
  if (handle.state !== 'out-of-rotation') return { why: `its worker is ${handle.state}` }
  const answer = await handle.call(type, fields, timeoutMs)
  return isDraining(handle) ? { why: 'it was told to drain' } : answer
}

/** @param {WorkerHandle} handle */
const isDraining = ({ state }) => state === 'draining'

module.exports = { Rotation }
