'use strict'

/** The two kinds of places that a worker is spawned for: each owns the failures of its workers. */

const { Backoff } = require('../../core/backoff')
const { RecycleBackoff } = require('../../tables/recycle-backoff')
/** @import { Variant } from './spawner' */
/** @import { WorkerHandle } from './worker-handle' */

/** @typedef {Slot | StandbyPool} Place */

/** Properties of both; of the standbys nothing is known but their failures. */
class WorkerPlace {
  /** Workers that did not start; see lifecycle.js. */
  boots = new Backoff()
  /** Workers that were condemned again and again. */
  recycling = new RecycleBackoff()
  /**
   * The addresses that its last ready worker has asked for, and how long it was up then: ms, 0: it was not yet.
   * Standbys must listen on those that all slots have in common.
   * @type {ReadonlyMap<string, number> | null}
   */
  addresses = null
  /** Of the last ready worker. @type {number | null} */
  generation = null
  /** The same. @type {number | null} */
  pid = null
  /**
   * The recycle under way; `isReplaced`: the successor has taken over.
   * @type {{ old: WorkerHandle, how: 'surge' | 'drain-first', isReplaced?: boolean } | null}
   */
  recycle = null
  /** Settings that its next worker is to have in place of an ordinary one. @type {Variant | null} */
  variant = null
}

/** A stable worker number: its worker, the successor that boots beside it, and those that leave. */
class Slot extends WorkerPlace {
  /** @type {WorkerHandle | null} */
  incumbent = null
  /** @type {WorkerHandle | null} */
  successor = null
  /** @type {Set<WorkerHandle>} */
  leaving = new Set()
  /** No worker of it has been ready since it was opened, or scaled away. */
  isNew = true
  /** Addresses of its last worker of the generation before. @type {ReadonlyMap<string, number> | null} */
  former = null
  /**
   * Why its last worker to boot has not become ready; null: it has.
   * @type {{ why: string, hasCrashed: boolean } | null}
   */
  unready = null

  /** @param {number} slot its number, from 0 */
  constructor (slot) {
    super()
    this.slot = slot
  }

  /** A worker boots here: in an empty slot as its incumbent, else as the successor. @param {WorkerHandle} handle */
  seat (handle) {
    if (this.incumbent === null) this.incumbent = handle
    else this.successor = handle
  }

  /**
   * The slot's worker is ready: from here on it is the incumbent, and its predecessor, if there is one, leaves.
   * @param {WorkerHandle} handle
   */
  ready (handle) {
    this.isNew = false
    if (this.generation !== handle.generation) this.former = this.addresses
    this.addresses = handle.asked
    this.generation = handle.generation
    this.pid = handle.pid
    if (this.successor !== handle) return
    if (this.incumbent) this.vacate(this.incumbent)
    this.incumbent = handle
    this.successor = null
  }

  /** A worker is on its way out. @param {WorkerHandle} handle */
  vacate (handle) {
    if (!handle.isGone) this.leaving.add(handle)
    if (this.incumbent === handle) this.incumbent = null
    if (this.successor === handle) this.successor = null
  }

  /** A worker is gone. @param {WorkerHandle} handle */
  remove (handle) {
    this.vacate(handle)
    this.leaving.delete(handle)
  }
}

/**
 * The standbys: replacements that are booted ahead. Each has loaded the app and listens where the workers do, but
 * accepts no connection; it belongs to no slot until one needs it.
 *
 *     spawned ──▶ standby ──take()──▶ a slot's
 *                    └── over budget, stuck, older than a reload ──▶ replaced, without having served
 */
class StandbyPool extends WorkerPlace {
  slot = null
  /** Standbys: workers that boot, wait and leave without a slot. @type {Set<WorkerHandle>} */
  handles = new Set()

  /** @param {WorkerHandle} handle */
  seat (handle) {
    this.handles.add(handle)
  }

  /** @param {WorkerHandle} handle */
  remove (handle) {
    this.handles.delete(handle)
  }
}

module.exports = { Slot, StandbyPool }
