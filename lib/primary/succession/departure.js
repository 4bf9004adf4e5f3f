'use strict'

/**
 * The end of a fleet that another primary has taken over: its workers drain, and their connections move to the other
 * one's, where they can. The addresses stay, and so does what waits in their queues.
 */

const { SUCCESSION: { reason } } = require('../../features')
const { Part } = require('../part')
const { leave } = require('../workers/retirement')
/** @import { WorkerHandle } from '../workers/worker-handle' */

const MOVE_MS = 5 // for each connection: without the addon they pass between the two primaries one by one

/** @extends {Part<{ recycler: import('../recycling/recycler').Recycler }>} */
class Departure extends Part {
  deadlineMs = 0
  #to = /** @type {'successor' | 'none'} */ ('successor')

  /**
   * Resolves when every worker is gone.
   * @param {Map<number, number>} successors the pid of the new worker, by slot @param {boolean} mayMove connections can
   */
  async run (successors, mayMove) {
    if (!mayMove) this.#to = 'none'
    const handles = this.fleet.all()
    this.deadlineMs = this.options.drainTimeoutMs +
      MOVE_MS * handles.reduce((sum, { connections }) => sum + connections, 0)
    await Promise.all(handles.map(handle => this.tasks.run('leave', () => this.#retire(handle, successors))))
  }

  /** Cuts what is in flight. */
  hurry () {
    this.deadlineMs = 0
    for (const handle of this.fleet.all()) this.tasks.run('leave', () => this.#retire(handle))
  }

  /**
   * A retirement under way is hurried; the recycle that began it has its account.
   * @param {WorkerHandle} handle @param {Map<number, number>} [successors]
   */
  async #retire (handle, successors) {
    const { slot } = handle
    const isOurs = handle.state !== 'draining'
    const hasServed = handle.calledAt !== null
    if (slot !== null) this.fleet.slots.get(slot)?.vacate(handle)
    handle.condemnation.dismiss(reason)
    const times = { deadlineMs: this.deadlineMs, lingerMs: hasServed ? null : 0 }
    const { account, drainMs } = await leave(handle, { why: reason, times, to: this.#to }, this)
    if (!isOurs || !hasServed) return
    this.recycler.count(Number(slot), reason)
    const worker = { slot, pid: successors?.get(Number(slot)) ?? null, oldPid: handle.pid, reason, how: reason }
    const rssBefore = handle.sample?.rssBytes ?? null
    this.record('recycled',
      { ...worker, ...account, drainMs, tookMs: drainMs, readyMs: null, rssBefore, rssAfter: null })
  }
}

module.exports = { Departure }
