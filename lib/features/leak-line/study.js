'use strict'

/**
 * A study of a slot: its worker is replaced by one that is profiled, which is read out of rotation, and replaced by
 * an ordinary one.
 *
 *     recycle ─▶ profiled worker ready ─▶ reading ─▶ reading ─▶ reading ─▶ recycle
 *                     └── is condemned, dies, or is not asked for any more: what was read so far is the result
 *
 * A worker that is condemned for its memory is read once more before its recycle.
 */

const { EventEmitter, once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { attempt } = require('../../core/attempt')
const { notDone } = require('../../core/errors')
const { inliningFlags } = require('./inlining-flags')
const { judge, LEAST_REQUESTS } = require('./outcome')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Growth } from './growth' */
/** @import { Usage } from './outcome' */

const INTERVAL_BYTES = 8 * 1024
const READ_AT = [1 / 4, 5 / 8, 1] // of the time; before the first one, caches fill and code is compiled
const READING_MS = 60_000
const LONGEST_MS = 60_000 // by itself, where requests are few
const LOOK_MS = 250
// Out of rotation, before it is read: sockets close, and what an app does after its responses ends
const SETTLE_MS = 250
const TRIES = 5
const AGAIN_MS = 1500
const NAME = 'leak-line'

/** @typedef {Awaited<ReturnType<Study['run']>>} Result */

/** Emits `ready` when the profiled worker is. */
class Study extends EventEmitter {
  /** @type {WorkerHandle | null} */
  handle = null
  /** @type {Usage[]} */
  readings = []
  /** @type {Growth | null} */
  growth = null
  /** Why it ended before its time. @type {string | null} */
  why = null
  isOver = false
  /** When the worker was ready: ms, by kernel.now(). @type {number | null} */
  #readyAt = null
  /** @type {Promise<void> | null} */
  #reading = null
  #isLastTried = false
  #ending = new AbortController()
  /** @type {import('../../primary/recycling/recycler').Recycled[]} */
  #recycled = []

  /**
   * @param {import('../../primary/parts').Parts} kernel @param {number} slot
   * @param {{ forMs: number, isWhole: boolean, by: 'requested' | 'budget' }} how
   */
  constructor (kernel, slot, how) {
    super()
    this.kernel = kernel
    this.slot = slot
    this.how = how
  }

  /**
   * @param {AbortSignal} [signal] ends it @returns the journal's `leak.end`, and what it was made from
   * @throws {RecycleError} RECYCLE_NOT_DONE, RECYCLE_NOT_READY, RECYCLE_STOPPED
   */
  async run (signal) {
    const { kernel, slot, how } = this
    const onAbort = () => this.end('it was ended')
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted) onAbort()
    /** @type {string | null} */
    let notRestored = null
    try {
      await this.#begin()
      for (const share of READ_AT) {
        await this.#until(share * how.forMs)
        if (how.by === 'budget') await this.#untilServed()
        if (this.why !== null) break
        await this.read()
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.isOver = true
      notRestored = await this.#restore()
    }
    const { readings, growth, why, handle } = this
    const outcome = judge({ readings, growth })
    const tookMs = Math.round(this.#sinceReady())
    const line = kernel.record('leak.end',
      { slot, pid: handle?.pid ?? null, by: how.by, tookMs, why, ...outcome, found: outcome.found.slice(0, 5) })
    return {
      ...line, forMs: how.forMs, intervalBytes: INTERVAL_BYTES, outcome, readings, growth, recycled: this.#recycled,
      notRestored
    }
  }

  /** The profiled worker has been spawned. @param {WorkerHandle} handle */
  seat (handle) {
    this.handle = handle
    handle.once('ready', () => this.emit('ready'))
    handle.once('leaving',
      () => this.end(handle.reason === null ? 'its worker was replaced' : `its worker was replaced (${handle.reason})`))
    handle.once('exit', () => this.end('its worker has ended'))
    handle.hear({
      'leak-reading': ({ growth, requests, rssBytes, heapTotalBytes, heapUsedBytes, externalBytes }) => {
        const memory = { rssBytes, heapTotalBytes, heapUsedBytes, externalBytes }
        this.readings.push({ requests, ...memory, atMs: Math.round(this.#sinceReady()), pauseMs: 0 })
        if (growth !== null) this.growth = attempt(() => JSON.parse(growth), null) ?? this.growth
      }
    })
  }

  /** @param {string} why */
  end (why) {
    if (this.isOver) return
    this.why ??= why
    this.#ending.abort()
  }

  /** @param {WorkerHandle} handle @returns {'due' | 'under way' | null} a last reading, before its recycle */
  stateOf (handle) {
    if (handle !== this.handle || this.isOver || handle.reason === null) return null
    if (this.#reading !== null) return 'under way'
    return this.#isLastTried || this.readings.length === 0 ? null : 'due'
  }

  async readLast () {
    this.#isLastTried = true
    await this.read()
    this.end(`its worker was condemned (${this.handle?.reason})`)
  }

  /** Resolves when the worker was read, or could not be, which ends the study. */
  read () {
    this.#reading ??= this.#tryToRead().finally(() => { this.#reading = null })
    return this.#reading
  }

  /** Plain data for status(). */
  describe () {
    const { slot, handle, how, readings } = this
    const requests = handle?.latest.requests ?? 0
    return {
      slot,
      pid: handle?.pid ?? null,
      by: how.by,
      forMs: how.forMs,
      sinceMs: Math.round(this.#sinceReady()),
      requests,
      readings: readings.length
    }
  }

  #sinceReady () {
    return this.#readyAt === null ? 0 : this.kernel.now() - this.#readyAt
  }

  /** Resolves when the profiled worker is ready, or the study has ended. */
  async #begin () {
    const { kernel, slot, how: { by, forMs } } = this
    const flags = await inliningFlags()
    if (this.why !== null) return
    const recycled = this.#replace({
      feature: NAME, execArgv: flags, settings: { intervalBytes: INTERVAL_BYTES, flags }
    })
    const failed = recycled.then(() => {
      if (this.#readyAt === null && this.handle?.isServing !== true) {
        throw notDone(slot, 'the study', 'its worker was replaced by another command')
      }
    })
    failed.catch(() => {}) // after the race
    const ready = once(this, 'ready', { signal: this.#ending.signal }).catch(() => {})
    await Promise.race([ready, failed])
    if (this.why !== null || this.handle === null) return
    this.#readyAt = kernel.now()
    kernel.record('leak.begin', { slot, pid: this.handle.pid, by, forMs })
  }

  /** @param {import('../../primary/workers/spawner').Variant} [variant] */
  async #replace (variant) {
    this.#recycled.push(await this.kernel.commands.recycle(this.slot, variant))
  }

  /** @param {number} ms after the worker was ready */
  async #until (ms) {
    await sleep(Math.max(0, ms - this.#sinceReady()), undefined, { signal: this.#ending.signal }).catch(() => {})
  }

  /** A worker that was just read has no connections until some move back to it. */
  async #untilServed () {
    const last = this.readings.at(-1)
    const isServed = () => last === undefined || Number(this.handle?.latest.requests) - last.requests >= LEAST_REQUESTS
    while (this.why === null && !isServed() && this.#sinceReady() < LONGEST_MS) {
      await this.#until(this.#sinceReady() + LOOK_MS)
    }
  }

  async #tryToRead () {
    const handle = /** @type {WorkerHandle} */ (this.handle)
    let why = ''
    for (let tries = 0; tries < TRIES && this.why === null; tries++) {
      const { length } = this.readings
      const done = await this.kernel.rotation.take(handle, {
        type: 'leak-reading', fields: { isWhole: this.how.isWhole }, timeoutMs: READING_MS,
        refusal: () => this.#whyNotNow(handle)
      })
      const reading = this.readings[length]
      if (done.why === null && reading) {
        reading.pauseMs = Math.round(done.pauseMs)
        const { slot } = this
        this.kernel.record('leak.reading', { slot, pid: handle.pid, ...reading })
        return
      }
      why = done.why ?? 'it has told nothing'
      if (handle.isGone || handle.state === 'draining') break
      await sleep(AGAIN_MS)
    }
    this.end(`its worker could not be read: ${why}`)
  }

  /** A hard budget holds out of rotation, too. @param {WorkerHandle} handle @returns {Promise<string | null>} */
  async #whyNotNow (handle) {
    await sleep(SETTLE_MS)
    return this.kernel.sampler.whyHurry(handle)
  }

  /**
   * An ordinary worker again, whatever has happened.
   * @returns {Promise<string | null>} when the profiled one is gone, or leaves; else why it serves on for now
   */
  async #restore () {
    const { handle, kernel } = this
    const { readyTimeoutMs } = kernel.options
    if (handle !== null && handle.state === 'spawning') await handle.next(['ready', 'exit'], readyTimeoutMs)
    kernel.changed()
    const isLeaving = handle !== null && (handle.isGone || handle.reason !== null || handle.state === 'draining')
    if (isLeaving || (handle === null && this.#recycled.length > 0)) return null
    // The next worker of the slot is an ordinary one all the same
    return this.#replace().then(() => null, ({ message }) => message)
  }
}

module.exports = { Study, NAME, INTERVAL_BYTES }
