'use strict'

/**
 * Workers that are out of the rotation for a while, by their app's pause() or because a feature wants it. The state is
 * `ready` all the same: such a worker is measured, probed and recycled as any other. It accepts and adopts nothing, its
 * idle connections move to others, and what cannot move it serves on.
 */

const { rotate } = require('../../core/rotation')
const { now } = require('../clock')
const { replayAfter } = require('../workers/retirement')
const { Part } = require('../part')
/** @import { WorkerHandle } from '../workers/worker-handle' */

const FOR_GOOD_MS = 2 ** 31 - 1
const APP = 'app'

class Rotation extends Part {
  /** Why each is to be out, by what wants it. @type {WeakMap<WorkerHandle, Map<string, string>>} */
  #wishes = new WeakMap()
  /** Workers of which it has been said that they stay in. @type {WeakSet<WorkerHandle>} */
  #kept = new WeakSet()

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
    for (const { handle, wish } of back) {
      this.#bringBack(handle, wish === null ? null : 'no other worker is in rotation')
    }
    for (const { handle, wish } of out) this.#takeOut(handle, /** @type {string} */ (wish))
    for (const { handle, wish } of kept) {
      if (!this.#kept.has(handle)) {
        this.record('fleet.warning', { warning: 'kept-in-rotation', slot: handle.slot, pid: handle.pid, why: wish })
      }
      this.#kept.add(handle)
    }
    for (const { handle, wish } of members) if (wish === null) this.#kept.delete(handle)
  }

  /** @param {WorkerHandle} handle @param {string} why */
  #takeOut (handle, why) {
    const left = { since: now(), why }
    handle.out = left
    const { slot, pid, connections, latest: { inFlight } } = handle
    this.record('worker.paused', { slot, pid, why, connections, inFlight })
    const replayAfterMs = this.options.replayAfterMs === null ? null : replayAfter(this.options)
    const order = { deadlineMs: FOR_GOOD_MS, handoff: this.options.handoff, replayAfterMs, isPatient: true }
    handle.call('leave-rotation', order, Infinity).then(({ why }) => {
      // The worker is out for a task, or leaves; the next event asks again
      if (why !== null && handle.out === left) handle.out = null
    })
  }

  /** @param {WorkerHandle} handle @param {string | null} why though it is to be out */
  #bringBack (handle, why) {
    const outMs = now() - Number(handle.out?.since)
    handle.out = null
    handle.order('rejoin')
    this.record('worker.resumed', { slot: handle.slot, pid: handle.pid, why, outMs })
    if (why !== null) this.#kept.add(handle)
  }
}

module.exports = { Rotation }
