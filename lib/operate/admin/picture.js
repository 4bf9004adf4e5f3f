'use strict'

/**
 * The data of the live page: memory of each slot, traffic, and workers beside the load over the last minutes, recycles,
 * crashes, and the workers. A page that is just opened gets all of it; open pages get what is new.
 *
 * @typedef {{ t: number, bytes: number, budget: number | null }} Point
 *
 * @typedef {'loopLagMs' | typeof MOMENTS[number]['figure']} Shown figures of workers
 *
 * @typedef {object} Moment the fleet at one time
 * @property {number} t
 * @property {number} perSecond requests begun since the moment before
 * @property {number | null} lagMs the longest event-loop delay of any worker
 * @property {number} wanted workers that there are to be
 * @property {number} ready
 * @property {number} busy sum of the event-loop utilisations of the workers in service
 * @property {number | null} errorsPerSecond responses with 5xx
 * @property {number | null} p50 median time to the end of a response, ms, of the worker with the longest
 * @property {number | null} p99
 *
 * @typedef {object} Size of the fleet
 * @property {number} wanted
 * @property {{ t: number, from: number, to: number, reason: string } | null} change the last one
 *
 * @typedef {object} Live figures of workers of the code before beside those of new code
 * @property {string} title @property {string} text @property {boolean} isBad
 * @property {{ label: string, old: string, fresh: string, isWorse: boolean }[]} rows figures as text
 *
 * @typedef {(about: any) => Live | null} SayLive by what status() has of a feature
 *
 * @typedef {object} Part of the picture; a page merges the parts. Beside these: what features say of themselves in
 *   status(), by key
 * @property {number} t now, ms since the epoch
 * @property {Record<string, unknown>} about sums and facts of the fleet
 * @property {Size} size @property {Status['workers']} workers @property {Live[]} live
 * @property {{ slot: number, points: Point[] }[]} memory @property {Moment[]} traffic
 * @property {import('../../journal/recycle-event').RecycleEvent[]} recycleEvents
 * @property {import('../../journal/audit').CrashEvent[]} crashEvents
 */

const { FEATURES, LIVE, MOMENTS } = require('../../features')
const { sayMoves } = require('../../core/moves')
const { pick } = require('../../core/fields')
const { handleLine } = require('../../core/journal-field')
const { sayCrashing } = require('../../core/crashes')
const { ENDS } = require('../../journal/events')
const { Audit } = require('../../journal/audit')
const { verdictOf } = require('../../journal/verdict')
const { busyWorkers } = require('./gauges')
const { Growth } = require('./growth')
/** @import { JournalLine } from '../../lines' */
/** @import { Status } from '../../primary/supervisor' */

const WINDOW_MS = 10 * 60_000
const MOST_POINTS = 6000 // over all slots
const MOST_EVENTS = 500 // of each kind

class Picture {
  /** By slot. @type {Map<number, Point[]>} */
  #memory = new Map()
  /** @type {Moment[]} */
  #traffic = []
  #growth = new Growth()
  #requests = 0
  /** @type {number | null} */
  #startedAt = null
  /** The last of the fleet's size. @type {Size['change']} */
  #change = null
  #audit = new Audit({
    addMemory: (slot, t, bytes, budget) => this.#addPoint(slot, { t, bytes, budget }), mostEvents: MOST_EVENTS
  })

  /** News since the last news(). Its times may be older: a line is written after the time that it records. */
  #fresh = nothing()

  /** @param {number} windowMs time span that is kept */
  constructor (windowMs = WINDOW_MS) {
    this.windowMs = windowMs
  }

  /** @param {JournalLine} line */
  hear (line) {
    handleLine(this.#audit.handlers, line)
    if (line.event === 'fleet.start') this.#startedAt = line.t
    if (line.event === 'fleet.scale') this.#change = { t: line.t, from: line.from, to: line.to, reason: line.reason }
    if (ENDS.has(line.event)) this.#fresh.recycles++
    if (line.event === 'worker.crash') this.#fresh.crashes++
    const isEnd = line.event === 'worker.retire' || line.event === 'worker.crash'
    if (isEnd || line.event === 'worker.sample') this.#requests += this.#growth.of(line.pid, 'requests', line.requests)
    if (isEnd) this.#growth.forget(line.pid)
  }

  /** @param {number} now @param {Status} status @param {number} elapsedMs since the last call, or since the start */
  look (now, { workers, totals }, elapsedMs) {
    for (const { pid, requests } of workers) this.#requests += this.#growth.of(pid, 'requests', requests)
    this.#trim(now - this.windowMs, now)
    if (elapsedMs > 0) {
      /** @type {Moment} */
      const moment = {
        t: now,
        perSecond: this.#requests / elapsedMs * 1000,
        lagMs: most(workers, 'loopLagMs'),
        errorsPerSecond: null,
        p50: null,
        p99: null,
        wanted: totals.workers,
        ready: totals.ready,
        busy: busyWorkers(workers)
      }
      for (const { figure, name, by } of MOMENTS) {
        moment[name] = by === 'most' ? most(workers, figure) : this.#perSecond(workers, figure, elapsedMs)
      }
      this.#traffic.push(moment)
      this.#fresh.traffic.push(moment)
    }
    this.#requests = 0
  }

  /** @param {Status['workers']} workers @param {Shown} figure @param {number} elapsedMs */
  #perSecond (workers, figure, elapsedMs) {
    const known = workers.filter(worker => typeof worker[figure] === 'number')
    const growth = known.reduce((sum, worker) => sum + this.#growth.of(worker.pid, figure, worker[figure] ?? 0), 0)
    return known.length > 0 ? growth / elapsedMs * 1000 : null
  }

  /** The whole picture. @param {number} now @param {Status} status @returns {Part} */
  whole (now, status) {
    const { events, crashEvents } = this.#audit
    return this.#part(now, status, {
      memory: this.#memory, traffic: this.#traffic, recycles: events.items.length, crashes: crashEvents.items.length
    })
  }

  /** News since the last call. @param {number} now @param {Status} status @returns {Part} */
  news (now, status) {
    const part = this.#part(now, status, this.#fresh)
    this.catchUp()
    return part
  }

  /** Discards the news: no page is open. */
  catchUp () {
    this.#fresh = nothing()
  }

  /** @param {number} now @param {Status} status @param {ReturnType<typeof nothing>} what */
  #part (now, status, { memory, traffic, recycles, crashes }) {
    const { name = null, listening = [], workers, totals, crashing = null, ...more } = status
    const { events, crashEvents } = this.#audit
    const from = now - this.windowMs
    return {
      t: now,
      about: { ...this.#about(), ...movesOf(totals), name, listening, crashing: crashing && sayCrashing(crashing) },
      size: { wanted: totals.workers, change: this.#change },
      workers,
      ...ofFeatures(more),
      live: liveOf(more),
      memory: [...memory].sort(([a], [b]) => a - b).map(([slot, points]) => ({ slot, points })),
      traffic,
      recycleEvents: last(events.items, recycles).filter(({ t }) => t > from && t <= now),
      crashEvents: last(crashEvents.items, crashes).filter(({ t }) => t > from && t <= now)
    }
  }

  #about () {
    const { fleet, crashesInDrains, totals: { cut, unaccounted }, byReason } = this.#audit
    const sums = pick(this.#audit, ['recycles', 'crashes', 'connectionsAtCrashes', 'inFlightAtCrashes'])
    const lost = { ...sums, cut, unaccounted }
    return {
      ...fleet,
      startedAt: this.#startedAt,
      windowMs: this.windowMs,
      verdict: verdictOf({ client: null, gaps: [], requests: null, dropped: null, crashesInDrains, ...lost }),
      ...lost,
      byReason: Object.fromEntries(byReason)
    }
  }

  /** @param {number} slot @param {Point} point */
  #addPoint (slot, point) {
    const points = pointsOf(this.#memory, slot)
    const finestMs = this.windowMs * this.#memory.size / MOST_POINTS
    let at = points.length
    while (at > 0 && points[at - 1].t > point.t) at--
    if (at === points.length && at > 0 && point.t - points[at - 1].t < finestMs) return
    points.splice(at, 0, point)
    pointsOf(this.#fresh.memory, slot).push(point)
  }

  /** A time later than `to` was recorded before the clock was set back. @param {number} from @param {number} to */
  #trim (from, to) {
    for (const [slot, points] of this.#memory) {
      drop(points, from, to)
      if (points.length === 0) this.#memory.delete(slot)
    }
    drop(this.#traffic, from, to)
  }
}

/** @param {{ t: number }[]} items in the order of time @param {number} from @param {number} to */
function drop (items, from, to) {
  let count = 0
  while (count < items.length && items[count].t < from) count++
  if (count > 0) items.splice(0, count)
  while (items.length > 0 && items[items.length - 1].t > to) items.pop()
}

/** @param {Map<number, Point[]>} bySlot @param {number} slot */
function pointsOf (bySlot, slot) {
  const points = bySlot.get(slot) ?? []
  bySlot.set(slot, points)
  return points
}

/** @param {Status['totals']} totals */
function movesOf ({ moves }) {
  return { moved: Object.values(moves).reduce((sum, count) => sum + count, 0), moves: sayMoves(moves) }
}

/** @param {Status['workers']} workers @param {Shown} figure @returns {number | null} the largest */
function most (workers, figure) {
  const values = workers.map(worker => worker[figure]).filter(value => typeof value === 'number')
  return values.length > 0 ? Math.max(...values) : null
}

/** @template Item @param {readonly Item[]} items @param {number} count @returns {Item[]} */
const last = (items, count) => count > 0 ? items.slice(-count) : []

/** @param {Record<string, unknown>} status @returns {Live[]} */
const liveOf = status => [...LIVE].flatMap(([key, live]) => (status[key] ? live(status[key]) : null) ?? [])

/** @param {Record<string, unknown>} status */
function ofFeatures (status) {
  return Object.fromEntries(FEATURES.flatMap(({ status: part }) => part ? [[part.key, status[part.key] ?? null]] : []))
}

function nothing () {
  return {
    memory: /** @type {Map<number, Point[]>} */ (new Map()),
    traffic: /** @type {Moment[]} */ ([]),
    recycles: 0,
    crashes: 0
  }
}

module.exports = { Picture }
