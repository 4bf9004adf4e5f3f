'use strict'

/**
 * Looks at every worker that serves or stands by, every --interval and at once where a replacement is requested, judges
 * what it sees, and condemns:
 *
 *     meter ─▶ Sample ─▶ window ─▶ verdict() ─▶ condemnation
 *
 * No worker is asked anything: memory is read from outside, and the rest was in its last beat, so a worker that is
 * stuck is measured like any other.
 */

const { ownBytesOf } = require('../../features')
const { aboveFresh, withoutFiles } = require('../../tables/budget')
const { makeSample, figure } = require('../../core/sample')
const { crossing, isOver, verdict } = require('../../tables/reasons')
const { untilNext } = require('../../native/every')
const { now } = require('../clock')
const { Figures } = require('./figures')
const { CpuProbe } = require('./meter/cpu')
const { sweep } = require('./meter/sweep')
const { Part } = require('../part')
/** @import { Reading, Sample } from '../../core/sample' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

class Sampler extends Part {
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #isLooking = false
  /** Which workers to look at next. @type {'none' | 'requested' | 'all'} */
  #next = 'none'
  /**
   * The warning of a fresh worker over its budget; null: none is.
   * @type {{ bytes: number, softBytes: number | null, raisedBytes: number | null } | null}
   */
  freshOverBudget = null

  /** Looks are at multiples of the interval, however long one takes. */
  begin () {
    this.#timer = setTimeout(() => {
      this.begin()
      this.lookNow()
    }, untilNext(this.memoryWatch.nextLookMs))
  }

  end () {
    clearTimeout(this.#timer)
  }

  /** Looks, and has the plan made anew by what is seen. @param {{ requestedAlone?: boolean }} [at] */
  lookNow (at) {
    this.tasks.run('look', async () => {
      if (this.tenure.isOver) return
      await this.look(at)
      if (at?.requestedAlone !== true && !this.tenure.isOver) this.memoryWatch.look()
      this.changed()
    })
  }

  /**
   * Has this worker replaced.
   * @param {WorkerHandle} handle @param {import('../../tables/reasons').Asked} reason
   * @param {{ isCommanded?: boolean }} [how]
   */
  replace (handle, reason, how) {
    handle.condemnation.request(reason, how)
    this.lookNow({ requestedAlone: true })
  }

  /** @param {WorkerHandle} handle one that has become ready, or a standby: it is judged by what it does from here on */
  watch (handle) {
    if (handle.figures) return handle.figures.restart()
    const figures = handle.figures = new Figures(
      this.meter.probe(handle.pid, handle), new CpuProbe(handle.pid), this.features.probe(handle)
    )
    handle.once('exit', () => figures.close())
    // Before it has had requests
    figures.fresh = this.read(handle, { inFull: ['rss', 'anon'].includes(this.options.metric) ? null : false })
      .catch(() => null)
  }

  /**
   * A condemned worker stays in service, and begins anew as far as its budget is concerned.
   * @param {WorkerHandle} handle
   */
  keep (handle) {
    const { slot, pid, reason } = handle
    handle.condemnation.lift()
    handle.figures?.restart()
    this.record('worker.keep', { slot, pid, reason })
  }

  /**
   * @param {WorkerHandle} handle
   * @param {{ inFull?: boolean | null, at?: number }} [how] in full: also PSS and USS, where the meter knows them;
   *   null: RSS alone
   * @returns {Promise<Reading | null>} its memory now
   */
  async read (handle, { inFull = false, at = now() } = {}) {
    const { figures } = handle
    const reading = without(await figures?.probe.read(at, inFull) ?? null, ownBytesOf(handle.latest))
    if (figures && reading && reading.pssBytes !== null) figures.lastFull = reading
    if (figures && figures.isLateSaid !== (figures.probe.isLate === true)) this.#sayLate(handle, figures)
    return reading
  }

  /** A hard budget holds out of rotation, too. @param {WorkerHandle} handle @returns {Promise<string | null>} why */
  async whyHurry (handle) {
    const { metric, hardBytes } = handle.budget
    const reading = await this.read(handle, { inFull: metric === 'pss' || metric === 'uss' })
    const bytes = reading && figure(reading, metric)
    return bytes !== null && hardBytes !== null && bytes > hardBytes ? 'it is over its hard budget' : null
  }

  /** @param {WorkerHandle} handle @param {Figures} figures */
  #sayLate ({ slot, pid }, figures) {
    figures.isLateSaid = figures.probe.isLate === true
    if (figures.isLateSaid) this.record('fleet.warning', { warning: 'meter', slot, pid, file: this.meter.name })
  }

  /**
   * A look at all workers, or at those alone whose replacement is requested and not decided: samples between the
   * intervals would make a spike of any other. A call during a look has another one follow.
   * @param {{ requestedAlone?: boolean }} [at]
   */
  async look ({ requestedAlone = false } = {}) {
    if (this.#next !== 'all') this.#next = requestedAlone ? 'requested' : 'all'
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#next !== 'none') {
        const handles = this.fleet.watched().filter(handle =>
          this.#next === 'all' || (handle.reason === null && this.#requestOf(handle) !== null))
        this.#next = 'none'
        await this.#lookOnce(handles, now())
      }
    } finally {
      this.#isLooking = false
    }
  }

  /** @param {WorkerHandle} handle */
  #requestOf (handle) {
    return handle.condemnation.requested ?? this.fleet.rollout.requested(handle.generation)
  }

  /** @param {WorkerHandle[]} handles @param {number} at ms, by clock.js, as wherever a look is timed here */
  async #lookOnce (handles, at) {
    await sweep(handles, async handle => {
      const figures = /** @type {Figures} */ (handle.figures)
      figures.cpu.look(at)
      const { window } = figures
      const fresh = figures.sample === null ? await figures.fresh : null
      const reading = await this.read(handle, { at })
      const limited = await figures.limits(at)
      // A worker that has become ready or was kept meanwhile begins with a reading of its own.
      if (figures.window !== window || !handle.isWatched || this.tenure.isOver) return
      this.#judge(handle, figures, this.#observe(handle, figures, { reading, fresh, at, limited }), at)
    })
  }

  /**
   * @param {WorkerHandle} handle @param {Figures} figures
   * @param {{ reading: Reading | null, fresh: Reading | null, at: number, limited: Record<string, unknown> }} read
   */
  #observe (handle, figures, { reading, fresh, at, limited }) {
    const { requests, connections, streams, inFlight, elu, gc, loopLagMs } = handle.latest
    const ageMs = at - Number(handle.upSince)
    const silentMs = Math.max(0, at - handle.heardAt)
    const sample = makeSample(reading, { ageMs, requests, silentMs, requested: this.#requestOf(handle), ...limited })
    if (!figures.isJudged) {
      this.fleet.placeOf(handle)?.recycling.begun(isOver(sample, handle.budget, handle.budget.softBytes), now())
    }
    if (figures.sample === null && !handle.isAdopted) {
      this.#judgeFresh(handle, fresh && figure(fresh, handle.budget.metric))
    }
    if (fresh) figures.new = fresh
    this.#judgeFiles(handle, figures, sample)
    figures.isJudged = true
    figures.observe(sample, handle.budget)
    this.record('worker.sample',
      { slot: handle.slot, pid: handle.pid, ...sample, connections, streams, inFlight, elu, gc, loopLagMs })
    handle.isSampled = true
    return sample
  }

  /** @param {WorkerHandle} handle @param {Figures} figures @param {Sample} sample @param {number} at */
  #judge (handle, { window }, sample, at) {
    if (handle.reason !== null) return
    const reason = verdict(window, handle.budget)
    if (reason === null) return
    if (!handle.condemnation.isCommanded) {
      this.fleet.placeOf(handle)?.recycling.condemned(reason, sample.ageMs, now(), sample.requests === 0)
    }
    handle.condemnation.condemn(reason, at)
    const { slot, pid, budget: { metric, softBytes, hardBytes } } = handle
    const { requests, silentMs, ageMs } = sample
    const cause = this.features.causeOf(handle)
    const of = { slot, pid, reason, metric, bytes: figure(sample, metric), softBytes, hardBytes }
    const crossed = crossing(reason, sample, handle.budget)
    this.record('worker.condemn', { ...of, requests, silentMs, ageMs, ...crossed, ...cause !== null && { cause } })
  }

  /**
   * A worker over budget from the start would be replaced by one that is too: its budget is raised. It is said once.
   * @param {WorkerHandle} handle @param {number | null} bytes that it took when it was new
   */
  #judgeFresh (handle, bytes) {
    this.autoSize.observe(bytes)
    const { slot, pid, budget } = handle
    const raised = aboveFresh(budget, bytes)
    if (raised === budget || bytes === null) return
    handle.budget = raised
    this.record('worker.budget', { slot, pid, budget: raised })
    if (this.freshOverBudget !== null) return
    this.freshOverBudget = {
      bytes, softBytes: budget.softBytes ?? budget.hardBytes, raisedBytes: raised.softBytes ?? raised.hardBytes
    }
    this.record('fleet.warning', { warning: 'fresh-over-budget', slot, pid, ...this.freshOverBudget })
  }

  /**
   * Pages of files are no reason for a recycle. It is said once.
   * @param {WorkerHandle} handle @param {Figures} figures @param {Sample} sample
   */
  #judgeFiles (handle, figures, sample) {
    const { slot, pid, budget } = handle
    const changed = figures.new === null ? budget : withoutFiles(budget, figures.new, sample)
    if (changed === budget) return
    handle.budget = changed
    this.record('worker.budget', { slot, pid, budget: changed })
    const { metric } = budget
    const { anonBytes } = sample
    this.warnings.warnOnce({ warning: 'mapped-files', slot, pid, metric, bytes: figure(sample, metric), anonBytes })
  }
}

/** @param {Reading | null} reading @param {number} bytes @returns {Reading | null} */
function without (reading, bytes) {
  if (reading === null || bytes === 0) return reading
  const { rssBytes, anonBytes, pssBytes, ussBytes } = reading
  const rest = (/** @type {number | null} */ all) => all && Math.max(0, all - bytes)
  const all = { anonBytes: rest(anonBytes), pssBytes: rest(pssBytes), ussBytes: rest(ussBytes) }
  return { ...reading, rssBytes: Math.max(0, rssBytes - bytes), ...all }
}

module.exports = { Sampler }
