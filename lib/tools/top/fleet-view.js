'use strict'

/** The model of `recycle top`: the last status, the history of each slot, the events, and the selected worker. */

const { isQuiet } = require('../../journal/sentence')
const { inServiceBySlot } = require('../../operate/admin/gauges')
const { measured } = require('../../operate/worker-columns')

const EVENTS_KEPT = 100

/**
 * @import { Status } from '../../primary/supervisor'
 * @typedef {Status['workers'][number]} Worker
 * @typedef {{ worker: Worker, history: History | null }} Row `history`: that of the slot, for the worker in service
 */

class FleetView {
  /** @type {Map<number, History>} */
  #histories = new Map()
  /** @type {Map<number, number>} requests so far, by pid */
  #requests = new Map()
  /** @type {{ slot: number | null, pid: number } | null} */
  #selected = null
  /** @type {Record<string, unknown>[]} */
  events = []
  /** @type {Row[]} */
  rows = []
  requestsPerSecond = 0
  /** ms, by the clock of update() @type {number | null} */
  seenAt = null

  /** @param {Status} status @param {number} now ms on any clock that does not jump */
  update (status, now) {
    this.status = status
    const serving = inServiceBySlot(status.workers)
    for (const slot of this.#histories.keys()) if (!serving.has(slot)) this.#histories.delete(slot)
    for (const [slot, worker] of serving) this.#historyOf(slot).push(measured(worker))
    this.rows = status.workers.map(worker => ({
      worker,
      history: worker.slot !== null && serving.get(worker.slot) === worker ? this.#historyOf(worker.slot) : null
    }))
    this.#count(status.workers, now)
  }

  /** @param {Record<string, unknown>} line of the journal */
  note (line) {
    if (isQuiet(line)) return
    this.events.push(line)
    if (this.events.length > EVENTS_KEPT) this.events.shift()
  }

  /** The selected row; if its worker is gone, the row of the worker in the same slot. @returns {Row | undefined} */
  get selected () {
    const { pid, slot } = this.#selected ?? {}
    return this.rows.find(({ worker }) => worker.pid === pid) ?? this.rows.find(({ worker }) => worker.slot === slot) ??
      this.rows[0]
  }

  /** Moves the selection. @param {number} by rows, positive for down */
  move (by) {
    const at = this.rows.findIndex(row => row === this.selected) + by
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, at))]
    if (row) this.#selected = { slot: row.worker.slot, pid: row.worker.pid }
  }

  /** @param {number} slot */
  #historyOf (slot) {
    const history = this.#histories.get(slot) ?? new History()
    this.#histories.set(slot, history)
    return history
  }

  /** @param {Worker[]} workers @param {number} now */
  #count (workers, now) {
    const before = this.seenAt
    const served = workers.reduce((sum, { pid, requests }) =>
      sum + Math.max(0, requests - (this.#requests.get(pid) ?? 0)), 0)
    this.requestsPerSecond = before === null ? 0 : served / (now - before) * 1000
    this.#requests = new Map(workers.map(({ pid, requests }) => [pid, requests]))
    this.seenAt = now
  }
}

const KEPT = 60

/** The last minute of a figure, sampled once a second. */
class History {
  /** @type {(number | null)[]} */
  #values = []
  #pushed = 0

  /** @param {number | null} value */
  push (value) {
    this.#pushed++
    this.#values.push(value)
    if (this.#values.length > KEPT) this.#values.shift()
  }

  /**
   * The values in `columns` groups, the highest of each. A value stays in its group, so that the picture moves and does
   * not flicker.
   * @param {number} columns @returns {(number | null)[]} the newest last
   */
  in (columns) {
    const size = Math.ceil(KEPT / columns)
    /** @type {(number | null)[]} */
    const highest = Array(columns).fill(null)
    const newest = Math.ceil(this.#pushed / size)
    for (const [i, value] of this.#values.entries()) {
      const column = columns - 1 - (newest - Math.ceil((this.#pushed - this.#values.length + i + 1) / size))
      if (value !== null && column >= 0) highest[column] = Math.max(highest[column] ?? 0, value)
    }
    return highest
  }
}

module.exports = { FleetView, History }
