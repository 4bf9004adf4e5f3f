'use strict'

/**
 * Watches the memory of the container as a whole, beside the sampler that watches each worker: what is used of the
 * limit, the pressure, the kernel's kills, and whether budgets fit.
 */

const { sizingWarnings } = require('../../core/container-budget')
const { isNearLimit, nextLookMs } = require('../../core/memory-room')
const { OomKills } = require('../../core/oom-kills')
const { now } = require('../clock')
const { Container } = require('./container')
/** @import { Deps } from '../part' */
/** @import { WorkerHandle } from '../workers/worker-handle' */
/** @import { MemoryReading } from './container' */

class MemoryWatch {
  /**
   * By the last look; null: this system does not tell.
   * @type {(import('../../core/memory-room').Memory & Pick<MemoryReading, 'source' | 'pressure' | 'limitHits'> &
   *   { oomKills: number }) | null}
   */
  latest = null
  #kills = new OomKills()
  /** @type {number | null} */
  #hitsAtStart = null
  #isNear = false

  /** @param {Pick<Deps, 'options' | 'fleet' | 'record'> & { container?: Container }} deps */
  constructor ({ options, fleet, record, container = new Container() }) {
    this.options = options
    this.container = container
    this.fleet = fleet
    this.record = record
    this.#read()
  }

  /** Says what does not fit by the options alone. */
  start () {
    for (const warning of sizingWarnings(this.options.sizing, this.options)) this.record('fleet.warning', warning)
  }

  /** Until the sampler's next look. @returns {number} ms */
  get nextLookMs () {
    return nextLookMs(this.latest, this.options.intervalMs)
  }

  look () {
    const reading = this.#read()
    if (reading === null) return
    const { source, limitBytes, usedBytes, pressure, limitHits } = reading
    const fresh = this.fleet.watched().map(({ figures }) => figures?.freshBytes ?? 0)
    this.#hitsAtStart ??= limitHits
    this.latest = {
      source,
      limitBytes,
      usedBytes,
      freshBytes: Math.max(0, ...fresh) || null,
      pressure,
      limitHits: limitHits === null ? null : Math.max(0, limitHits - Number(this.#hitsAtStart)),
      oomKills: this.#kills.total
    }
    this.record('fleet.memory', this.latest)
    const isNear = isNearLimit(this.latest, this.#isNear)
    if (isNear && !this.#isNear) {
      this.record('fleet.warning',
        { warning: 'memory-limit', source, limitBytes, usedBytes, nextLookMs: this.nextLookMs })
    }
    this.#isNear = isNear
  }

  /**
   * Call it once for each worker that is gone.
   * @param {WorkerHandle} handle @returns {boolean} the kernel has killed it for want of memory
   */
  wasOomKilled (handle) {
    if (handle.left?.signal !== 'SIGKILL' || handle.process.killedFor !== null) return false
    this.#read()
    return this.#kills.claim()
  }

  #read () {
    const reading = this.container.readMemory()
    this.#kills.observe(reading?.oomKills ?? null, now())
    return reading
  }
}

module.exports = { MemoryWatch }
