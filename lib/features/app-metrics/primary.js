'use strict'

/**
 * In the primary: asks each worker for its app's metrics at each scrape, and adds them up with those of the workers
 * that are gone.
 */

const { every } = require('../../native/every')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const ANSWER_MS = 500 // of a worker whose event loop is blocked the latest ones are served
const MOST_APART = 20
const ASK_EVERY_MS = 5000 // of a worker that is killed, those since then are lost

class AppMetrics {
  /** @type {Map<WorkerHandle, { metrics: Metric[] | null, isAsked: boolean }>} */
  #workers = new Map()
  /** Of workers that are gone: sums, and of each of the latest. @type {Metric[][]} */
  #gone = []
  #isAdding = false
  /** Of the workers of another primary, which this one has taken over from. @type {Metric[]} */
  #inherited = []
  /** Called when each worker has answered. @type {Set<() => void>} */
  #scrapes = new Set()
  /** While there are workers. @type {(() => void) | null} */
  #end = null

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    // The answer may be read late
    handle.once('entered', () => {
      if (handle.isGone) return
      this.#workers.set(handle, { metrics: null, isAsked: false })
      this.#end ??= every(ASK_EVERY_MS, () => this.#ask())
    })
    handle.hear({ 'app-metrics': ({ json }) => this.#hear(handle, json) })
    handle.once('exit', () => this.#lose(handle))
  }

  /** @returns {Promise<string>} for Prometheus */
  async scrape () {
    await Promise.all([this.#ask(), this.kernel.legacy.ask()])
    const all = [this.#inherited, ...this.#gone, ...this.#latest]
    if (all.every(metrics => metrics.length === 0)) return ''
    return `${await sumOf(all).metrics()}\n`
  }

  /** @returns {Promise<string | null>} what still counts when these workers are gone, in JSON */
  async bequeath () {
    if (this.#workers.size > 0) await this.#ask()
    try {
      return JSON.stringify(await sumOf([this.#inherited, ...this.#gone, ...this.#latest.map(lasting)])
        .getMetricsAsJSON())
    } catch (error) {
      this.#tell(/** @type {Error} */ (error).message)
      return null
    }
  }

  /** @param {string} json of bequeath() */
  inherit (json) {
    try {
      this.#inherited = parseMetrics(json)
    } catch (error) {
      this.#tell(/** @type {Error} */ (error).message)
    }
  }

  get #latest () {
    return [...this.#workers.values()].flatMap(({ metrics }) => metrics === null ? [] : [metrics])
  }

  /** Resolves when all have answered, or after half a second. @returns {Promise<void>} */
  #ask () {
    for (const [handle, worker] of this.#workers) {
      if (worker.isAsked) continue
      worker.isAsked = true
      handle.send('app-metrics')
    }
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(timer)
        this.#scrapes.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ANSWER_MS)
      this.#scrapes.add(end)
      this.#look()
    })
  }

  #look () {
    if ([...this.#workers.values()].some(({ isAsked }) => isAsked)) return
    for (const end of this.#scrapes) end()
  }

  /** @param {WorkerHandle} handle @param {string | null} json */
  #hear (handle, json) {
    const worker = this.#workers.get(handle)
    if (!worker) return
    worker.isAsked = false
    try {
      if (json !== null) worker.metrics = parseMetrics(json)
    } catch (error) {
      this.#tell(/** @type {Error} */ (error).message)
    }
    this.#look()
  }

  /** @param {WorkerHandle} handle */
  #lose (handle) {
    const { metrics = null } = this.#workers.get(handle) ?? {}
    this.#workers.delete(handle)
    if (this.#workers.size === 0) {
      this.#end?.()
      this.#end = null
    }
    if (metrics !== null) this.#gone.push(lasting(metrics)) // at once: a scrape may be under way
    this.#look()
    if (this.#gone.length > MOST_APART) this.#addUp()
  }

  /** Makes one of those that are there. */
  async #addUp () {
    if (this.#isAdding) return
    this.#isAdding = true
    const { length } = this.#gone
    try {
      const sum = /** @type {any} */ (await sumOf(this.#gone.slice()).getMetricsAsJSON())
      this.#gone.splice(0, length, sum)
    } catch (error) {
      this.#gone.splice(0, length)
      this.#tell(/** @type {Error} */ (error).message)
    }
    this.#isAdding = false
  }

  /** Once. @param {string} why */
  #tell (why) {
    this.kernel.warnings.warnOnce({ warning: 'app-metrics-unread', why: why.slice(0, 200) })
  }
}

/**
 * The sum of the metrics of several processes, as prom-client's AggregatorRegistry makes it: counters and histograms
 * are added up, gauges as their `aggregator` says. What a process had that is gone still counts, or each counter would
 * go back at a recycle.
 *
 * @typedef {{ name: string, type: string, values: { labels: Record<string, unknown>, value: unknown, metricName?:
 *   string }[] }} Metric as prom-client has it in JSON
 */

const OWN = /^recycle_/

/** @param {unknown} value @returns {value is Metric} */
function isMetric (value) {
  const { name, type, help, values } = /** @type {any} */ (value ?? {})
  return typeof name === 'string' && !OWN.test(name) && typeof type === 'string' && typeof help === 'string' &&
    Array.isArray(values)
}

/** @param {string} json @returns {Metric[]} @throws {Error} where it is not of prom-client */
function parseMetrics (json) {
  const metrics = JSON.parse(json)
  if (!Array.isArray(metrics)) throw new Error('they are no list')
  return metrics.filter(isMetric)
}

/** The figures that still count of a process that is gone. @param {Metric[]} metrics */
function lasting (metrics) {
  return metrics.flatMap(metric => {
    if (metric.type === 'counter' || metric.type === 'histogram') return [metric]
    if (metric.type === 'summary') {
      return [{ ...metric, values: metric.values.filter(({ labels }) => labels?.quantile === undefined) }]
    }
    return []
  })
}

/** @param {Metric[][]} all of each process @returns {import('prom-client').Registry} */
const sumOf = all => require('prom-client').AggregatorRegistry.aggregate(all)

module.exports = { AppMetrics, lasting, parseMetrics, sumOf }
