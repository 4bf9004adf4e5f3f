'use strict'

/**
 * Looks at every worker that serves or stands by, judges what it sees, and condemns:
 *
 *     meter ─▶ Sample ─▶ window ─▶ verdict() ─▶ handle.reason
 *
 * No worker is asked anything: memory is read from outside, and the rest was in its last beat, so a worker that is stuck
 * is measured like any other.
 */

const { backoffMs } = require('../../core/backoff')
const { makeSample, figure } = require('../../core/sample')
const { verdict, isOver } = require('../../core/verdict')
const { now } = require('../clock')
const { CpuProbe } = require('./meter/cpu')
const { isTraced } = require('./meter/procfs')
const { sweep } = require('./meter/sweep')

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

const LATE_MS = 1000

class Sampler {
  /** @type {WeakMap<WorkerHandle, import('./meter').Probe>} */
  #probes = new WeakMap()
  /** @type {WeakMap<WorkerHandle, CpuProbe>} */
  #cpus = new WeakMap()
  isStopped = false
  #isLooking = false
  /** At whom to look next. @type {'nobody' | 'wishes' | 'everybody'} */
  #next = 'nobody'
  #lastLook = now()
  #saidOverBudget = false

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('../recycling/rollout').Rollout} deps.rollout
   * @param {ReturnType<typeof import('./meter').pickMeter>} deps.meter
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   */
  constructor ({ options, fleet, rollout, meter, record }) {
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.meter = meter
    this.record = record
  }

  /** @param {WorkerHandle} handle one that has become ready, or a standby */
  attend (handle) {
    if (this.#probes.has(handle)) return
    const probe = this.meter.probe(handle.pid, handle.budget)
    this.#probes.set(handle, probe)
    const cpu = new CpuProbe(handle.pid)
    this.#cpus.set(handle, cpu)
    handle.once('exit', () => {
      probe.close()
      cpu.close()
    })
  }

  /**
   * @param {WorkerHandle} handle
   * @param {{ inFull?: boolean }} [how] in full: also PSS and USS, where the meter knows them
   * @returns {Promise<import('../../core/sample').Reading | null>} its memory now
   */
  async read (handle, { inFull = false } = {}) {
    return this.#measure(handle, now(), inFull)
  }

  /** From here on nobody is judged. */
  stop () {
    this.isStopped = true
  }

  /**
   * One look at everybody, or at those alone that somebody wishes to be replaced: samples between the intervals would make
   * a spike of everybody else. A call during a look has another one follow.
   *
   * @param {{ wishesAlone?: boolean }} [at]
   */
  async look ({ wishesAlone = false } = {}) {
    if (this.#next !== 'everybody') this.#next = wishesAlone ? 'wishes' : 'everybody'
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#next !== 'nobody') {
        const whom = this.fleet.watched().filter(handle => this.#next === 'everybody' || this.#wishOf(handle) !== null)
        this.#next = 'nobody'
        await this.#lookOnce(whom, now())
      }
    } finally {
      this.#isLooking = false // also where somebody who listens for events throws: a fleet must not go unmeasured
    }
  }

  /** @param {WorkerHandle} handle */
  #wishOf (handle) {
    return handle.requested ?? this.rollout.requested(handle.generation)
  }

  /** @param {WorkerHandle[]} whom @param {number} at ms, by clock.js, as wherever a look is timed here */
  async #lookOnce (whom, at) {
    // After a sleep of our own (SIGSTOP, say) nobody was heard, and nobody is to blame.
    const { intervalMs, stuckTimeoutMs } = this.options
    const slept = at - this.#lastLook - intervalMs > Math.min(LATE_MS, stuckTimeoutMs / 2)
    this.#lastLook = at
    if (slept) for (const handle of this.fleet.watched()) handle.heardAt = at
    await sweep(whom, async handle => {
      this.#weighCpu(handle, at)
      const { window } = handle
      const reading = await this.#measure(handle, at)
      // Who has become ready or was reprieved meanwhile begins with a reading of its own.
      if (handle.window === window && handle.isWatched && !this.isStopped) this.#judge(handle, this.#observe(handle, reading, at), at)
    })
  }

  /** @param {WorkerHandle} handle @param {number} at @param {boolean} [inFull] */
  async #measure (handle, at, inFull) {
    const reading = await this.#probes.get(handle)?.read(at, inFull) ?? null
    if (reading && reading.pssBytes !== null) handle.lastFull = reading
    return reading
  }

  /** @param {WorkerHandle} handle @param {number} at */
  #weighCpu (handle, at) {
    const cpu = this.#cpus.get(handle)
    cpu?.look(at)
    handle.cpuPercent = cpu?.percent ?? null
  }

  /** @param {WorkerHandle} handle @param {import('../../core/sample').Reading | null} reading @param {number} at */
  #observe (handle, reading, at) {
    const silentMs = Math.max(0, at - handle.heardAt)
    const isSpared = silentMs >= handle.budget.stuckMs && (handle.latest.debugged || isTraced(handle.pid))
    const { requests, connections, inFlight, elu, gc, loopLagMs } = handle.latest
    const sample = makeSample(reading, {
      ageMs: at - Number(handle.upSince),
      requests,
      silentMs: isSpared ? 0 : silentMs,
      requested: this.#wishOf(handle)
    })
    if (!handle.isWeighed) this.#weighFresh(handle, sample)
    handle.isWeighed = true
    handle.observe(sample)
    this.record('worker.sample', { slot: handle.slot, pid: handle.pid, ...sample, connections, inFlight, elu, gc, loopLagMs })
    handle.isSampled = true
    return sample
  }

  /** @param {WorkerHandle} handle @param {import('../../core/sample').Sample} sample @param {number} at */
  #judge (handle, sample, at) {
    if (handle.reason !== null) return
    handle.reason = verdict(handle.window, handle.budget)
    if (handle.reason === null) return
    handle.condemnedAt = at
    const { metric, softBytes, hardBytes } = handle.budget
    this.record('worker.condemn', {
      slot: handle.slot,
      pid: handle.pid,
      reason: handle.reason,
      metric,
      bytes: figure(sample, metric),
      softBytes,
      hardBytes,
      requests: sample.requests,
      silentMs: sample.silentMs,
      ageMs: sample.ageMs
    })
  }

  /**
   * A worker over budget from its first sample on is going to be replaced by one that is too. It is said once, and the
   * slot's recycles come ever more slowly.
   *
   * @param {WorkerHandle} handle
   * @param {import('../../core/sample').Sample} sample
   */
  #weighFresh (handle, sample) {
    const { budget } = handle
    const slot = handle.slot === null ? undefined : this.fleet.slots.get(handle.slot)
    if (!slot) return
    if (!isOver(sample, budget, budget.softBytes)) {
      slot.freshOverBudget = 0
      return
    }
    slot.notBefore = now() + backoffMs(++slot.freshOverBudget)
    if (this.#saidOverBudget) return
    this.#saidOverBudget = true
    this.record('fleet.warning', {
      warning: 'fresh-over-budget',
      slot: handle.slot,
      pid: handle.pid,
      bytes: figure(sample, budget.metric),
      softBytes: budget.softBytes
    })
  }
}

module.exports = { Sampler }
