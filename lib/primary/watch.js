'use strict'

/**
 * Looks at every worker that serves or stands by, judges what it sees, and condemns:
 *
 *     meter ─▶ Sample ─▶ window ─▶ verdict() ─▶ handle.reason
 *
 * No worker is asked anything: memory is read from outside, and the rest was in its last beat, so a worker that is stuck
 * is measured like any other.
 */

const { backoffMs } = require('../core/backoff')
const { makeSample, figure } = require('../core/sample')
const { verdict, isOver } = require('../core/verdict')
const { CpuProbe } = require('./meter/cpu')
const { isTraced } = require('./meter/procfs')
const { sweep } = require('./meter/sweep')

/** @typedef {import('./handle').Handle} Handle */

const LATE_MS = 1000

class Watch {
  /** @type {WeakMap<Handle, import('./meter').Probe>} */
  #probes = new WeakMap()
  /** @type {WeakMap<Handle, CpuProbe>} */
  #cpus = new WeakMap()
  isStopped = false
  #isLooking = false
  /** At whom to look next. @type {'nobody' | 'wishes' | 'everybody'} */
  #next = 'nobody'
  #lastLook = Date.now()
  #saidOverBudget = false

  /**
   * @param {object} rooms
   * @param {import('../core/options').Options} rooms.options
   * @param {import('./fleet').Fleet} rooms.fleet
   * @param {import('./rollout').Rollout} rooms.rollout
   * @param {ReturnType<typeof import('./meter').pickMeter>} rooms.meter
   * @param {(event: string, fields: Record<string, any>) => unknown} rooms.record
   */
  constructor ({ options, fleet, rollout, meter, record }) {
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.meter = meter
    this.record = record
  }

  /** @param {Handle} handle one that has become ready, or a standby */
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
   * @param {Handle} handle
   * @param {{ inFull?: boolean }} [how] in full: also PSS and USS, where the meter knows them
   * @returns {Promise<import('../core/sample').Reading | null>} its memory now
   */
  async read (handle, { inFull = false } = {}) {
    return this.#measure(handle, Date.now(), inFull)
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
        await this.#lookOnce(whom, Date.now())
      }
    } finally {
      this.#isLooking = false // also where somebody who listens for events throws: a fleet must not go unmeasured
    }
  }

  /** @param {Handle} handle */
  #wishOf (handle) {
    return handle.wish ?? this.rollout.wish(handle.generation)
  }

  /** @param {Handle[]} whom @param {number} now */
  async #lookOnce (whom, now) {
    // After a sleep of our own (a laptop's lid, SIGSTOP) nobody was heard, and nobody is to blame.
    const { intervalMs, stuckTimeoutMs } = this.options
    const slept = now - this.#lastLook - intervalMs > Math.min(LATE_MS, stuckTimeoutMs / 2)
    this.#lastLook = now
    if (slept) for (const handle of this.fleet.watched()) handle.heardAt = now
    await sweep(whom, async handle => {
      this.#weighCpu(handle, now)
      const { window } = handle
      const reading = await this.#measure(handle, now)
      // Who has become ready or was reprieved meanwhile begins with a reading of its own.
      if (handle.window === window && handle.isWatched && !this.isStopped) this.#judge(handle, this.#observe(handle, reading, now), now)
    })
  }

  /** @param {Handle} handle @param {number} now @param {boolean} [inFull] */
  async #measure (handle, now, inFull) {
    const reading = await this.#probes.get(handle)?.read(now, inFull) ?? null
    if (reading && reading.pssBytes !== null) handle.lastFull = reading
    return reading
  }

  /** @param {Handle} handle @param {number} now */
  #weighCpu (handle, now) {
    const cpu = this.#cpus.get(handle)
    cpu?.look(now)
    handle.cpuPercent = cpu?.percent ?? null
  }

  /** @param {Handle} handle @param {import('../core/sample').Reading | null} reading @param {number} now */
  #observe (handle, reading, now) {
    const silentMs = Math.max(0, now - handle.heardAt)
    const isSpared = silentMs >= handle.budget.stuckMs && (handle.latest.debugged || isTraced(handle.pid))
    const { requests, connections, inFlight, elu, gc, loopLagMs } = handle.latest
    const sample = makeSample(now, reading, {
      requests,
      silentMs: isSpared ? 0 : silentMs,
      wish: this.#wishOf(handle)
    })
    if (!handle.isWeighed) this.#weighFresh(handle, sample)
    handle.isWeighed = true
    handle.observe(sample)
    this.record('worker.sample', { slot: handle.slot, pid: handle.pid, ...sample, connections, inFlight, elu, gc, loopLagMs })
    handle.isSampled = true
    return sample
  }

  /** @param {Handle} handle @param {import('../core/sample').Sample} sample @param {number} now */
  #judge (handle, sample, now) {
    if (handle.reason !== null) return
    handle.reason = verdict(handle.window, handle.budget, now)
    if (handle.reason === null) return
    handle.condemnedAt = now
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
      ageMs: now - handle.window.readyAt
    })
  }

  /**
   * A worker over budget from its first sample on is going to be replaced by one that is too. It is said once, and the
   * slot's recycles come ever more slowly.
   *
   * @param {Handle} handle
   * @param {import('../core/sample').Sample} sample
   */
  #weighFresh (handle, sample) {
    const { budget } = handle
    const slot = handle.slot === null ? undefined : this.fleet.slots.get(handle.slot)
    if (!slot) return
    if (!isOver(sample, budget, budget.softBytes)) {
      slot.hasty = 0
      return
    }
    slot.notBefore = Date.now() + backoffMs(++slot.hasty)
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

module.exports = { Watch }
