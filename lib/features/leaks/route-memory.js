'use strict'

/**
 * Which route leaks: how many bytes a request of each route keeps, from the live memory of workers after collections
 * and their requests by route. Pure.
 *
 * Memory and requests both grow with time, so that one worker's life tells little; what tells routes apart is that
 * their shares of the traffic vary. A route is compared with the other routes, since what all requests keep cannot be
 * told from what grows with time alone. There are two ways to know what is kept, and the better one counts:
 *
 * - between two mark-sweeps, from scavenge to scavenge: many samples. What is alive for a moment after a request is
 *   told from what is kept, because it goes with the requests since the sample before. But objects that became old and
 *   died in the meantime count as kept. The next mark-sweep tells how much of it all was such garbage; at worst all of
 *   it was this route's.
 * - from mark-sweep to mark-sweep: exact, but few samples.
 *
 * @typedef {object} Point a worker after a collection
 * @property {number} pid
 * @property {number} upMs since the worker's start
 * @property {number} liveBytes
 * @property {number} markSweeps since its start
 * @property {Record<string, number>} requests by route, since its start
 *
 * @typedef {object} RouteEstimate
 * @property {string} route method and path; other: those without a row of their own
 * @property {number} requests
 * @property {number | null} bytesPerRequest kept by each request, beyond what requests of the other routes keep; null:
 *   not known
 * @property {number | null} low lower end of the interval that holds for all routes at once, in 999 of 1,000 cases
 * @property {number | null} high its upper end
 * @property {boolean} leaks
 *
 * @typedef {'few-samples' | 'no-mark-sweep' | 'one-route' | 'unclear' | null} Lack of evidence
 *
 * @typedef {object} Estimate
 * @property {string} text which route leaks, in a sentence
 * @property {Lack} lack why no route is named; null: one is
 * @property {number} points samples of live memory after a collection
 * @property {number} markSweeps of all workers
 * @property {number} requests of all routes
 * @property {number} growthBytes of live memory, all workers
 * @property {RouteEstimate[]} routes those that leak first, then by requests
 *
 * @typedef {{ upMs: number, liveBytes: number, requests: number[], recent: number[] | null }} Sample requests by index;
 *   `recent`: those since the sample before, of which something may be alive for a moment
 * @typedef {{ markSweeps: number, samples: Sample[] }} Epoch between two mark-sweeps of a worker
 */

const { MOST_ROUTES } = require('./bounds')
const { best, claims } = require('./route-claims')
const { fitTrend } = require('./trend-fit')
const { count, formatSize } = require('../../core/units')

const MOST_POINTS = 1000
const SHORT_EPOCH = 8 // points: it is not thinned
const WARM_REQUESTS = 50 // of a worker: before, its code is compiled and its caches are filled
const MOST_ROWS = 31 // routes that are told apart, the busiest ones; the time of an estimate grows with their square
const FEWEST_REQUESTS = 30 // of a route, else it counts as other
const LEAST_BYTES = 1024 ** 2 // that a route must have kept in all
const ENOUGH = 3 // degrees of freedom for each route, from mark-sweep to mark-sweep: fewer samples follow the noise
const LEAST_SHARE = 0.05 // of the growth

class RouteMemory {
  /** @type {Map<string, number>} */
  #indices = new Map([['other', 0]])
  /** By pid. @type {Map<number, Epoch[]>} */
  #workers = new Map()
  #points = 0

  /** @param {Point} point of each worker in the order of time */
  add ({ pid, upMs, liveBytes, markSweeps, requests }) {
    const counts = new Array(this.#indices.size).fill(0)
    let total = 0
    for (const [route, count] of Object.entries(requests)) {
      const index = this.#indexOf(route)
      counts[index] = (counts[index] ?? 0) + count
      total += count
    }
    if (total < WARM_REQUESTS) return
    let epochs = this.#workers.get(pid)
    let before = epochs ? lastOf(epochs) : null
    // The system has reused its pid
    if (!epochs || before === null || markSweeps < epochs[epochs.length - 1].markSweeps || upMs < before.upMs) {
      this.#drop(pid)
      this.#workers.set(pid, epochs = [])
      before = null
    }
    if (epochs.at(-1)?.markSweeps !== markSweeps) epochs.push({ markSweeps, samples: [] })
    const recent = before && counts.map((count, i) => count - (before.requests[i] ?? 0))
    epochs[epochs.length - 1].samples.push({ upMs, liveBytes, requests: counts, recent })
    if (++this.#points > MOST_POINTS) this.#thin()
  }

  /** The app's code has changed. */
  reset () {
    this.#indices = new Map([['other', 0]])
    this.#workers.clear()
    this.#points = 0
  }

  /** @returns {Estimate} */
  estimate () {
    const workers = [...this.#workers.values()]
    const requests = this.#requestsOf(workers.map(epochs => [epochs[0].samples[0], lastOf(epochs)]))
    const names = [...this.#indices.keys()]
    const columns = names.map((_, i) => i).filter(i => i > 0 && requests[i] >= FEWEST_REQUESTS)
      .sort((a, b) => requests[b] - requests[a]).slice(0, MOST_ROWS)
    const rest = names.map((_, i) => i).filter(i => !columns.includes(i))
    const byRow = (/** @type {number[]} */ counts) =>
      [...columns.map(i => counts[i] ?? 0), rest.reduce((sum, i) => sum + (counts[i] ?? 0), 0)]
    const sums = byRow(requests)
    const seriesOf = (/** @type {Sample[][]} */ lists, /** @type {(sample: Sample) => number[]} */ rowOf) =>
      lists.filter(({ length }) => length > 1)
        .map(samples => ({ levels: samples.map(({ liveBytes }) => liveBytes), regressors: samples.map(rowOf) }))
    const between = fitTrend(seriesOf(workers.flat()
      .map(({ samples }) => samples.filter(({ recent }) => recent !== null)),
    ({ requests, upMs, recent }) => [...byRow(requests), upMs / 1000, ...byRow(recent ?? [])]), 2 * sums.length + 1)
    const across = fitTrend(seriesOf(workers.map(epochs =>
      epochs.filter(({ markSweeps }) => markSweeps > 0).map(({ samples }) => samples[0])),
    ({ requests, upMs }) => [...byRow(requests), upMs / 1000]), sums.length + 1)
    const isEnough = across !== null && across.freedom >= ENOUGH * sums.length
    const garbage = this.#garbage(workers)
    const ended = garbage && byRow(garbage.requests)
    const growthBytes = workers.reduce((sum, epochs) =>
      sum + lastOf(epochs).liveBytes - epochs[0].samples[0].liveBytes, 0)
    const leaks = (/** @type {import('./route-claims').Claim | undefined} */ claim, /** @type {number} */ i) =>
      claim !== undefined && claim.low > 0 && claim.low * sums[i] <= growthBytes &&
        claim.bytes * sums[i] >= Math.max(LEAST_BYTES, LEAST_SHARE * growthBytes)
    const doubtful = between && claims(between, sums, () => 0)
    const found = best([
      between && ended && claims(between, sums, i =>
        ended[i] > 0 ? /** @type {{ bytes: number }} */ (garbage).bytes / ended[i] : Infinity),
      isEnough ? claims(across, sums, () => 0) : null,
      doubtful?.map(claim => claim && { ...claim, low: -Infinity })
    ], sums.length)
    const routes = sums.map((count, i) => ({
      route: names[columns[i] ?? 0],
      requests: count,
      bytesPerRequest: found[i]?.bytes ?? null,
      low: found[i] && Number.isFinite(found[i].low) ? found[i].low : null,
      high: found[i]?.high ?? null,
      leaks: leaks(found[i], i)
    })).filter(({ requests }) => requests > 0)
    routes.sort((a, b) => Number(b.leaks) - Number(a.leaks) || keptBy(b) - keptBy(a) || b.requests - a.requests)
    const suspect = garbage === null ? doubtful?.findIndex(leaks) ?? -1 : -1
    const lack = lackOf(routes, between !== null, suspect !== -1)
    return {
      text: leakSentence(lack, routes, suspect === -1 ? '' : names[columns[suspect] ?? 0]),
      lack,
      points: this.#points,
      markSweeps: workers.reduce((sum, epochs) => sum + epochs.length - 1, 0),
      requests: sums.reduce((sum, count) => sum + count, 0),
      growthBytes,
      routes
    }
  }

  /** @param {string} route */
  #indexOf (route) {
    const index = this.#indices.get(route)
    if (index !== undefined) return index
    if (this.#indices.size >= MOST_ROUTES) return 0
    this.#indices.set(route, this.#indices.size)
    return this.#indices.size - 1
  }

  /** @param {[Sample, Sample][]} spans @returns {number[]} requests in them, by index */
  #requestsOf (spans) {
    return [...this.#indices.values()].map(i =>
      spans.reduce((sum, [from, to]) => sum + (to.requests[i] ?? 0) - (from.requests[i] ?? 0), 0))
  }

  /**
   * Bytes that mark-sweeps have freed of what had grown since the mark-sweep before; null: there was none.
   * @param {Epoch[][]} workers
   */
  #garbage (workers) {
    let bytes = 0
    /** @type {[Sample, Sample][]} */
    const spans = []
    for (const epochs of workers) {
      for (let i = 0; i + 1 < epochs.length; i++) {
        const { samples } = epochs[i]
        const last = samples[samples.length - 1]
        bytes += Math.max(0, last.liveBytes - epochs[i + 1].samples[0].liveBytes)
        spans.push([samples[0], last])
      }
    }
    return spans.length === 0 ? null : { bytes, requests: this.#requestsOf(spans) }
  }

  /** Every second point goes, but for an epoch's ends; where that frees none, the worker that was first seen goes. */
  #thin () {
    for (const { samples } of [...this.#workers.values()].flat()) {
      if (samples.length <= SHORT_EPOCH) continue
      const kept = samples.filter((_, at) => at % 2 === 0 || at === samples.length - 1)
      this.#points -= samples.length - kept.length
      samples.splice(0, samples.length, ...kept)
    }
    for (const pid of this.#workers.keys()) {
      if (this.#points <= MOST_POINTS || this.#workers.size === 1) break
      this.#drop(pid)
    }
  }

  /** @param {number} pid */
  #drop (pid) {
    for (const { samples } of this.#workers.get(pid) ?? []) this.#points -= samples.length
    this.#workers.delete(pid)
  }
}

/** @param {RouteEstimate[]} routes @param {boolean} isFitted @param {boolean} isSuspected @returns {Lack} */
function lackOf (routes, isFitted, isSuspected) {
  if (routes.some(({ leaks }) => leaks)) return null
  if (!isFitted) return 'few-samples'
  if (isSuspected) return 'no-mark-sweep'
  return routes.length < 2 ? 'one-route' : 'unclear'
}

/** Only by a route that leaks. @param {RouteEstimate} route */
const keptBy = ({ leaks, bytesPerRequest, requests }) => leaks ? Number(bytesPerRequest) * requests : 0

/** @param {Epoch[]} epochs */
function lastOf (epochs) {
  const { samples } = epochs[epochs.length - 1]
  return samples[samples.length - 1]
}

/** @type {Record<Exclude<Lack, null>, string>} */
const LACKS = {
  'few-samples': 'too few collections so far',
  'no-mark-sweep': 'stands out, but no worker has finished a mark-sweep yet, which tells garbage from what is kept',
  'one-route': 'there is one route, and nothing to compare it with',
  unclear: 'no route stands out'
}

/**
 * @param {Lack} lack @param {RouteEstimate[]} routes
 * @param {string} suspect the route that stands out, where the lack is a mark-sweep @returns {string} which route leaks
 */
function leakSentence (lack, routes, suspect) {
  if (lack !== null) return `not enough evidence that a route leaks: ${suspect ? `${suspect} ` : ''}${LACKS[lack]}`
  const [first, ...more] = routes.filter(({ leaks }) => leaks)
  return `${first.route} keeps about ${formatSize(Math.round(Number(first.bytesPerRequest)))} of each ` +
    `request${more.length > 0 ? `; ${count(more.length, 'more route')} leak${more.length === 1 ? 's' : ''}` : ''}`
}

module.exports = { RouteMemory, leakSentence }
