'use strict'

/**
 * The supervisor's record: an account of every worker that was recycled, scaled away or stopped, and every crash.
 *
 * @typedef {object} CrashEvent
 * @property {number} t
 * @property {number | null} slot of the worker
 * @property {number | null} pid of the worker
 * @property {number | null} code exit code
 * @property {string | null} signal that ended it
 * @property {boolean} oomKilled by the kernel, because memory ran out
 * @property {Count | null} connections by its last beat; null: an older journal does not record it
 * @property {Count} inFlight requests, by its last beat
 *
 * @typedef {object} Incumbent a worker, from the lines so far
 * @property {number | null} softBytes @property {string} metric @property {number | null} drainAt
 * @property {number | null} retiredAt @property {string | null} reason @property {number | null} slot
 * @property {number | null} connections by its last sample
 */

const { SUCCESSION } = require('../features')
const { lostWith } = require('../core/account')
const { fromNames, addUp } = require('../core/fields')
const { ENDS } = require('./events')
const { asCount, asNumber, asObject, asText } = require('../core/journal-field')
const { BoundedList, countReason } = require('../core/bounded-list')
const { ACCOUNT, accountOf, endedEvent, unfinishedEvent } = require('./recycle-event')
/** @import { Count } from '../core/journal-field' */
/** @import { LineHandlers, ReadLine } from '../lines' */
/** @import { Ended, RecycleEvent } from './recycle-event' */

const MOST_EVENTS = 10_000
const MOST_CUTS = 50_000 // by name, over all events
const MOST_WORKERS = 5000

class Audit {
  recycles = 0
  crashes = 0
  /** Crashes whose losses are in the account of a drain. */
  crashesInDrains = 0
  connectionsAtCrashes = 0
  inFlightAtCrashes = 0
  /** Workers that the kernel killed because memory ran out: crashed, or while they left. */
  oomKills = 0
  /** Sums over every account. @type {Record<typeof ACCOUNT[number], number>} */
  totals = fromNames(ACCOUNT, () => 0)
  /** @type {Map<string, number>} */
  byReason = new Map()
  /** WebSockets that were closed with 1012, by their reason. @type {Map<string, number>} */
  restarted = new Map()
  /** @type {{ app: string | null, node: string | null, workers: number | null, metric: string }} */
  fleet = { app: null, node: null, workers: null, metric: 'rss' }
  /** The fleet of a primary that is to take over. @type {Audit['fleet'] | null} */
  #successor = null
  /** @type {BoundedList<CrashEvent>} */
  crashEvents
  /** @type {BoundedList<RecycleEvent>} */
  events
  #ended = 0
  #cutsNamed = 0
  #lastTime = 0
  /** By pid. @type {Map<unknown, Incumbent>} */
  #workers = new Map()

  /**
   * @param {object} [to] @param {(from: number, to: number) => void} [to.addSpan] gets the times of recycles
   * @param {(slot: number, t: number, bytes: number, budget: number | null) => void} [to.addMemory]
   * @param {() => void} [to.beforeThinning] attributes the drops, so that an event with a drop is kept
   * @param {number} [to.mostEvents] number kept of each kind
   */
  constructor ({ addSpan, addMemory, beforeThinning, mostEvents = MOST_EVENTS } = {}) {
    this.addSpan = addSpan
    this.addMemory = addMemory
    this.crashEvents = new BoundedList(mostEvents)
    const matters = (/** @type {RecycleEvent} */ { cut, lost, dropped }) => Number(cut) > 0 || lost || dropped > 0
    this.events = new BoundedList(mostEvents, matters, beforeThinning)
  }

  /** @type {LineHandlers} */
  handlers = Object.freeze({
    'fleet.start': line => {
      const started = fleetOf(line)
      if (asNumber(line.predecessor) === null) {
        this.#endOpen() // the previous primary died
        this.fleet = started
      } else {
        this.#successor = started // it runs the fleet when it says so; until then the other one does
      }
    },
    [SUCCESSION.events.leads]: () => {
      this.fleet = this.#successor ?? this.fleet
      this.#successor = null
    },
    'worker.spawn': line => this.#noteBudget(line, this.fleet.metric),
    'worker.budget': line => this.#noteBudget(line),
    'worker.sample': line => this.#onSample(line),
    'worker.drain': line => {
      const worker = this.#worker(line)
      worker.drainAt ??= asNumber(line.t)
      worker.slot ??= asNumber(line.slot) // it was spawned as a standby
      worker.reason = asText(line.reason)
    },
    'worker.retire': line => {
      this.#worker(line).retiredAt = asNumber(line.t)
      if (line.oomKilled === true) this.oomKills++
    },
    'worker.crash': line => this.#onCrash(line),
    ...Object.fromEntries([...ENDS].map(([event, kind]) =>
      [event, (/** @type {ReadLine<Ended>} */ line) => this.#onEnd(line, kind)]))
  })

  /** Call it after the last line: drains that have not ended become unfinished events. */
  finish () {
    this.#endOpen()
  }

  /** @param {ReadLine<'worker.spawn'>} line @returns {Incumbent} */
  #worker ({ pid, slot }) {
    const known = this.#workers.get(pid)
    if (known) return known
    const worker = {
      softBytes: null,
      metric: this.fleet.metric,
      drainAt: null,
      retiredAt: null,
      reason: null,
      slot: asNumber(slot),
      connections: null
    }
    this.#workers.set(pid, worker)
    if (this.#workers.size > MOST_WORKERS) this.#workers.delete(this.#workers.keys().next().value)
    return worker
  }

  /** @param {ReadLine<'worker.budget'>} line @param {string} [metric] unless the line has it */
  #noteBudget (line, metric) {
    const worker = this.#worker(line)
    const budget = asObject(line.budget)
    worker.softBytes = asNumber(budget.softBytes)
    worker.metric = asText(budget.metric) ?? metric ?? worker.metric
  }

  /** @param {ReadLine<'worker.sample'>} line */
  #onSample (line) {
    const t = asNumber(line.t)
    const slot = asNumber(line.slot)
    if (t === null || slot === null) return
    this.#lastTime = t
    const worker = this.#worker(line)
    worker.connections = asNumber(line.connections)
    const { softBytes, metric } = worker
    const bytes = asNumber(line[/** @type {'rssBytes'} */ (`${metric}Bytes`)]) // 0: the process is exiting
    if (bytes) this.addMemory?.(slot, t, bytes, softBytes)
  }

  /** @param {ReadLine<'worker.crash'>} line */
  #onCrash (line) {
    const t = asNumber(line.t)
    const worker = this.#workers.get(line.pid)
    const connections = asNumber(line.connections) ?? worker?.connections ?? null
    const isInDrain = worker !== undefined && worker.drainAt !== null // its account is to come, and has what is lost
    if (isInDrain) worker.retiredAt = t
    else this.#workers.delete(line.pid)
    if (t === null) return
    const lost = lostWith({ ...line, connections })
    const { inFlight } = lost
    this.crashes++
    if (isInDrain) this.crashesInDrains++
    else this.connectionsAtCrashes += lost.connections
    if (!isInDrain) this.inFlightAtCrashes += inFlight
    const oomKilled = line.oomKilled === true
    if (oomKilled) this.oomKills++
    const [slot, pid, code, signal] = [
      asNumber(line.slot), asNumber(line.pid), asNumber(line.code), asText(line.signal)
    ]
    this.crashEvents.push({
      t, slot, pid, code, signal, oomKilled, connections: connections && asCount(connections), inFlight
    })
  }

  /** @param {ReadLine<Ended>} line @param {'recycle' | 'scale' | 'stop'} kind */
  #onEnd (line, kind) {
    const t = asNumber(line.t)
    if (t === null) return
    const worker = this.#workers.get(line.oldPid)
    this.#workers.delete(line.oldPid)
    const reason = asText(line.reason)
    const account = accountOf(line)
    addUp(this.totals, account)
    if (kind === 'recycle') {
      this.recycles++
      countReason(this.byReason, reason ?? 'unknown')
    }

    const event = endedEvent(++this.#ended, kind, line, t, worker, account, this.#nameCuts(line.cuts))
    for (const [why, number] of Object.entries(event.restarted)) countReason(this.restarted, why, { more: number })
    this.addSpan?.(event.beganAt, t)
    this.events.push(event)
    this.#drawFall(event, worker)
  }

  /**
   * At the replacement: between two samples the slot's memory did not decrease slowly, but fell.
   * @param {RecycleEvent} event @param {Incumbent} [old]
   */
  #drawFall ({ slot, pid, rssBefore, rssAfter, drainAt, t }, old) {
    const successor = this.#workers.get(pid)
    if (slot === null || !rssBefore || !rssAfter || successor?.metric !== 'rss') return
    this.addMemory?.(slot, drainAt, rssBefore, old?.softBytes ?? null)
    this.addMemory?.(slot, t, rssAfter, successor.softBytes)
  }

  /** @param {unknown} cuts @returns {RecycleEvent['cuts']} */
  #nameCuts (cuts) {
    if (!Array.isArray(cuts) || this.#cutsNamed >= MOST_CUTS) return []
    const named = cuts.slice(0, MOST_CUTS - this.#cutsNamed).map(cut => ({
      method: asText(cut?.method),
      path: asText(cut?.path),
      ageMs: asNumber(cut?.ageMs),
      remotePort: asNumber(cut?.remotePort),
      upgraded: cut?.upgraded === true
    }))
    this.#cutsNamed += named.length
    return named
  }

  #endOpen () {
    for (const [pid, { drainAt, retiredAt, reason, slot }] of this.#workers) {
      if (drainAt === null || retiredAt !== null) continue
      const event = unfinishedEvent(
        ++this.#ended, { pid: asNumber(pid), slot, reason, drainAt, t: Math.max(drainAt, this.#lastTime) }
      )
      this.addSpan?.(event.beganAt, event.t)
      this.events.push(event)
    }
    this.#workers.clear()
  }
}

/** @param {ReadLine<'fleet.start'>} line @returns {Audit['fleet']} */
function fleetOf ({ app, node, options }) {
  const { workers, metric } = asObject(options)
  return { app: asText(app), node: asText(node), workers: asNumber(workers), metric: asText(metric) ?? 'rss' }
}

module.exports = { Audit }
