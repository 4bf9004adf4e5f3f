'use strict'

/**
 * The fleet's metrics for Prometheus, in seconds, bytes and ratios. They come from the journal's lines and from the
 * supervisor's status; no worker is queried.
 */

const { setImmediate: turn } = require('node:timers/promises')
const { AggregatorRegistry, Registry, Counter, Gauge, Histogram } = require('prom-client')
const { version } = require('../../../package.json')
const { lostWith } = require('../../core/account')
const { EVENTS, ENDS } = require('../../journal/events')
const { Growth } = require('./growth')
const { GAUGES, GC_KINDS, isInSlot, seconds } = require('./gauges')

/** @import { Line } from '../../journal/sentence' */
/** @import { Status } from '../../primary/supervisor' */
/** @import { Worker } from '../worker-columns' */

const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const FLEET = 0 // in place of a pid
const MOVES = 'connections_moved_total'

class Metrics {
  #registry = new Registry()
  #growth = new Growth()
  /** @type {Promise<string> | null} */
  #rendering = null

  contentType = this.#registry.contentType

  #build = this.#gauge('build_info', 'Always 1; the labels are the versions.', ['version', 'node_version'])
  #gauges = GAUGES.map(({ name, help, labels, values }) => ({ gauge: this.#gauge(name, help, labels), values }))
  /** By event. */
  #counters = new Map(Object.entries(EVENTS).flatMap(([event, { counter }]) => counter
    ? [[event, this.#counter(counter.name, counter.help, counter.reasons && ['reason'])]]
    : []))

  #limitHits = this.#counter('memory_limit_hits_total',
    'How often the limit was reached, so that memory had to be freed first.')

  #oomKills = this.#counter('oom_kills_total', 'Workers that the kernel killed because memory ran out.')

  #accounts = {
    cut: this.#counter('connections_cut_total',
      'Connections that ended with a request in flight, in a drain or with a worker that died.'),
    replayed: this.#counter('requests_replayed_total',
      'Requests that a sibling handled in place of a worker that was leaving.'),
    takenBack: this.#counter('connections_taken_back_total',
      'Connections that no sibling took, and that the leaving worker served to the end.'),
    unacked: this.#counter('connections_unacknowledged_total',
      'Connections handed over and never acknowledged: their outcome is not known.'),
    unaccounted: this.#counter('connections_unaccounted_total',
      'Connections that ended with a worker that crashed or gave no account: their requests are not known.')
  }

  #moves = this.#counter(MOVES,
    'Connections that went from one worker to another, by reason.', ['reason'])

  /** The pids of workers whose account is to come. */
  #draining = new Set()
  /** By event. */
  #durations = new Map(Object.entries(EVENTS).flatMap(([event, { duration }]) => duration
    ? [[event, { field: duration.field, histogram: this.#histogram(duration.name, duration.help) }]]
    : []))

  #drain = this.#histogram('drain_duration_seconds', "From a drain's begin until the worker had nothing left.")
  #requests = this.#counter('worker_requests_total',
    'Requests begun, over all workers that the slot has had.', ['slot'])

  #gcPauses = this.#counter('worker_gc_pauses_total', 'Pauses for garbage collection.', ['slot', 'kind'])
  #gcSeconds = this.#counter('worker_gc_pause_seconds_total',
    'Time spent in pauses for garbage collection.', ['slot', 'kind'])

  /** Of the primary before. @type {unknown[]} */
  #inherited = []
  /** For legacy.js. */
  isKept = true

  constructor () {
    this.#build.set({ version, node_version: process.version }, 1)
    for (const [event, counter] of this.#counters) {
      for (const reason of EVENTS[event].counter?.reasons ?? []) counter.inc({ reason }, 0)
    }
  }

  /** @param {Line} line of the journal */
  hear (line) {
    const { event, reason } = line
    this.#handlers[event]?.(line)
    this.#counters.get(event)?.inc(EVENTS[event].counter?.reasons ? { reason } : {})
    const duration = this.#durations.get(event)
    if (duration && line[duration.field] !== null) duration.histogram.observe(line[duration.field] / 1000)
    if (ENDS.has(event)) this.#account(line)
  }

  /** @type {Readonly<Record<string, (line: Line) => void>>} */
  #handlers = Object.freeze({
    'worker.spawn': ({ pid, adopted }) => { if (!adopted) this.#growth.forget(pid) }, // another one may have had it
    'worker.sample': line => this.#count(line),
    'worker.drain': ({ pid }) => { this.#draining.add(pid) },
    'fleet.memory': line => this.#limitHits.inc(this.#growth.of(FLEET, 'limit hits', line.limitHits ?? 0)),
    'worker.retire': line => this.#forget(line),
    'worker.crash': line => {
      if (!this.#draining.has(line.pid)) {
        const { connections, inFlight } = lostWith(line)
        const cut = line.moved === undefined ? 0 : inFlight // with their connections
        this.#accounts.cut.inc(cut)
        this.#accounts.unaccounted.inc(connections - cut)
      }
      this.#forget(line)
    }
  })

  /** Records the counts of the workers, because a worker may be gone at the next call. @param {Worker[]} workers */
  look (workers) {
    for (const worker of workers) this.#count(worker)
  }

  /**
   * The text of a scrape. It is rendered a metric at a time, with turns of the event loop in between; concurrent
   * scrapes share one rendering.
   * @param {Status} status @returns {Promise<string>}
   */
  render (status) {
    this.#rendering ??= this.#render(status).finally(() => { this.#rendering = null })
    return this.#rendering
  }

  /** @param {Status} status */
  async #render (status) {
    this.look(status.workers)
    for (const [reason, moves] of Object.entries(status.totals.moves)) {
      this.#moves.inc({ reason }, this.#growth.of(FLEET, `moves ${reason}`, moves))
    }
    for (const { gauge, values } of this.#gauges) {
      gauge.reset()
      for (const [labels, value] of values(status)) gauge.inc(labels, value) // of several workers in a slot the sum
    }
    let text = ''
    const registry = await this.#sum()
    for (const { name } of registry.getMetricsAsArray()) {
      text += `${await registry.getSingleMetricAsString(name)}\n\n`
      await turn()
    }
    return text
  }

  /** With what the primary before has counted. @returns {Promise<Registry>} */
  async #sum () {
    if (this.#inherited.length === 0) return this.#registry
    return AggregatorRegistry.aggregate([await this.#registry.getMetricsAsJSON(), this.#inherited])
  }

  /** Counters and histograms, but for the moves, which come from the status. @returns {Promise<string>} */
  async bequeath () {
    const registry = await this.#sum()
    const lasting = registry.getMetricsAsArray()
      .filter(({ name, type }) => /** @type {unknown} */ (type) !== 'gauge' && name !== `recycle_${MOVES}`)
    const metrics = await Promise.all(lasting.map(metric => /** @type {any} */ (metric).get()))
    return JSON.stringify({ metrics, seen: this.#growth.seen })
  }

  /** @param {string} text of bequeath() */
  inherit (text) {
    const { metrics, seen } = JSON.parse(text)
    this.#inherited = metrics.filter((/** @type {{ name: string }} */ { name }) => this.#registry.getSingleMetric(name))
    this.#growth.goOn(seen)
  }

  /** @param {Record<string, any>} worker its status, or a journal line with its counts */
  #count (worker) {
    const { slot, pid, requests, gc } = worker
    if (!isInSlot(worker)) return
    this.#requests.inc({ slot }, this.#growth.of(pid, 'requests', requests))
    if (!gc) return
    for (const [kind, key] of GC_KINDS) {
      this.#gcPauses.inc({ slot, kind }, this.#growth.of(pid, `${kind} pauses`, gc[key]?.count))
      this.#gcSeconds.inc({ slot, kind }, this.#growth.of(pid, `${kind} seconds`, seconds(gc[key]?.totalMs) ?? 0))
    }
  }

  /** @param {Line} line the worker's last line */
  #forget (line) {
    this.#count(line)
    this.#growth.forget(line.pid)
    this.#draining.delete(line.pid)
    if (line.oomKilled) this.#oomKills.inc()
  }

  /** @param {Line} line */
  #account (line) {
    this.#drain.observe(line.drainMs / 1000)
    for (const [name, counter] of Object.entries(this.#accounts)) counter.inc(line[name])
  }

  /** @param {string} name @param {string} help @param {string[]} [labelNames] */
  #gauge (name, help, labelNames = []) {
    return new Gauge({ name: `recycle_${name}`, help, labelNames, registers: [this.#registry] })
  }

  /** @param {string} name @param {string} help @param {string[]} [labelNames] */
  #counter (name, help, labelNames = []) {
    return new Counter({ name: `recycle_${name}`, help, labelNames, registers: [this.#registry] })
  }

  /** @param {string} name @param {string} help */
  #histogram (name, help) {
    return new Histogram({ name: `recycle_${name}`, help, buckets: BUCKETS, registers: [this.#registry] })
  }
}

module.exports = { Metrics }
