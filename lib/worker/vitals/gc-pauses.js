'use strict'

/**
 * Notes how long garbage collections paused this worker, and how late its event loop was.
 *
 * V8 reports four kinds of pauses. A scavenge and the end of a mark-sweep count as collections. The start of marking
 * adds to the time of the mark-sweep that follows, callbacks of weak references to that of the collection before them.
 * The steps of incremental marking in between are not reported.
 */

const { constants, performance, PerformanceObserver } = require('node:perf_hooks')
const { clearInterval, setInterval } = require('node:timers')
const { getHeapSpaceStatistics, getHeapStatistics } = require('node:v8')
const { NO_DELAYS } = require('../../core/gc-pauses')
const { loadAddon } = require('../../native/addon')

const MARK_SWEEP = constants.NODE_PERFORMANCE_GC_MAJOR
const MARKING_BEGINS = constants.NODE_PERFORMANCE_GC_INCREMENTAL
const WEAK_CALLBACKS = constants.NODE_PERFORMANCE_GC_WEAKCB

/**
 * How often the clock is read; a lag is reported up to this much too short. monitorEventLoopDelay() is cheaper, but
 * each reset discards the delay that is under way, which is the one that made a heartbeat late.
 */
const LOOK_MS = 50
/** How often it is asked whether the worker is idle: then only beats look. */
const IDLE_LOOK_MS = 500
const IDLE_CPU_MS = 10 // in that time
const IDLE_ACTIVE_MS = 100 // likewise: where the machine's CPUs are busy, a loop that waits for one is active
const IDLE_AFTER = 20 // times in turn, so that a job every few seconds is seen

class GcPauses {
  /** @type {Set<(hasMarkSweep: boolean) => void>} */
  #listeners = new Set()
  #observer = new PerformanceObserver(list => this.#observed(/** @type {any[]} */ (list.getEntries())))
  #gc = structuredClone(NO_DELAYS.gc)
  #last = this.#gc.scavenges
  #lookedAt = performance.now()
  #looks = 0
  #idleTimes = 0
  #elu = performance.eventLoopUtilization()
  #cpu = process.cpuUsage()
  #isAwaitingWork = false
  #longestLagMs = 0

  /**
   * @param {(work: () => void) => void} awaitWork calls `work` before the next request is handled
   * @param {Pick<ReturnType<typeof loadAddon>, 'addon'>} [loaded]
   */
  constructor (awaitWork = () => {}, { addon } = loadAddon()) {
    this.awaitWork = awaitWork
    /** Null while the worker is idle. @type {NodeJS.Timeout | null} */
    this.timer = this.#start()
    this.addon = addon?.collections() ? addon : null // from now on it counts them
    if (this.addon === null) this.#observer.observe({ entryTypes: ['gc'] })
  }

  /**
   * @param {(hasMarkSweep: boolean) => void} listener called soon after collections, with whether one of them was a
   *   mark-sweep; while there is one, each collection costs about 0.3 ms
   * @returns {() => void} ends it
   */
  onCollected (listener) {
    this.#observer.observe({ entryTypes: ['gc'] })
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.addon !== null && this.#listeners.size === 0) this.#observer.disconnect()
    }
  }

  /** @param {{ detail: { kind: number }, duration: number }[]} entries */
  #observed (entries) {
    if (this.addon === null) for (const { detail, duration } of entries) this.#add(detail.kind, duration)
    const hasMarkSweep = entries.some(({ detail: { kind } }) => kind === MARK_SWEEP)
    for (const listener of this.#listeners) listener(hasMarkSweep)
  }

  /** The pauses since the last call. @returns {import('../../core/gc-pauses').Delays} */
  take () {
    const { scavenges, markSweeps } = this.#gc
    const observed = [scavenges, markSweeps].flatMap(({ count, totalMs, longestMs }) => [count, totalMs, longestMs])
    const counted = this.addon?.collections() ?? observed
    const loopLagMs = rounded(this.#longestLagMs)
    scavenges.longestMs = markSweeps.longestMs = this.#longestLagMs = 0
    return { gc: { scavenges: pausesOf(counted), markSweeps: pausesOf(counted.slice(3)) }, loopLagMs }
  }

  #start () {
    return setInterval(() => this.look(performance.now()), LOOK_MS).unref()
  }

  /** An idle worker wakes for its beats alone. @param {number} beatMs between two of them */
  beat (beatMs) {
    if (this.timer === null) this.look(performance.now(), beatMs)
  }

  /**
   * To be called at an interval: what is beyond that is the delay.
   * @param {number} now by performance.now() @param {number} [everyMs]
   */
  look (now, everyMs = LOOK_MS) {
    this.#longestLagMs = Math.max(this.#longestLagMs, now - this.#lookedAt - everyMs)
    this.#lookedAt = now
    if (++this.#looks * everyMs < IDLE_LOOK_MS) return
    this.#looks = 0
    const { active } = performance.eventLoopUtilization(this.#elu)
    const { user, system } = process.cpuUsage(this.#cpu)
    this.#elu = performance.eventLoopUtilization()
    this.#cpu = process.cpuUsage()
    const isIdle = active < IDLE_ACTIVE_MS && (user + system) / 1000 < IDLE_CPU_MS
    this.#idleTimes = isIdle ? this.#idleTimes + 1 : 0
    if (this.#idleTimes < IDLE_AFTER) this.timer ??= this.#start()
    else if (this.timer !== null) this.#rest(this.timer)
  }

  /** @param {NodeJS.Timeout} timer */
  #rest (timer) {
    clearInterval(timer)
    this.timer = null
    if (this.#isAwaitingWork) return
    this.#isAwaitingWork = true
    this.awaitWork(() => {
      this.#isAwaitingWork = false
      this.#lookedAt = performance.now()
      this.#idleTimes = 0
      this.timer ??= this.#start()
    })
  }

  /** @param {number} kind @param {number} ms */
  #add (kind, ms) {
    const { scavenges, markSweeps } = this.#gc
    if (kind !== WEAK_CALLBACKS) this.#last = kind === MARK_SWEEP || kind === MARKING_BEGINS ? markSweeps : scavenges
    if (kind !== WEAK_CALLBACKS && kind !== MARKING_BEGINS) this.#last.count++
    this.#last.totalMs += ms
    if (ms > this.#last.longestMs) this.#last.longestMs = ms
  }
}

/** @param {number[]} counted of one kind, first */
function pausesOf ([count, totalMs, longestMs]) {
  return { count, totalMs: rounded(totalMs), longestMs: rounded(longestMs) }
}

/** @param {number} ms */
const rounded = ms => Math.round(ms * 1000) / 1000

/** Young objects may be garbage since the last collection. @returns {number} bytes of V8's heap that are not */
function oldBytes () {
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'))
    .reduce((sum, { space_used_size: size }) => sum + size, 0)
  return Math.max(0, getHeapStatistics().used_heap_size - young)
}

/** @returns {number} the same, and the bytes outside the heap that its objects keep */
const liveBytes = () => oldBytes() + getHeapStatistics().external_memory

module.exports = { GcPauses, oldBytes, liveBytes }
