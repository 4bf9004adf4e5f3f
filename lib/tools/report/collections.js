'use strict'

/**
 * Pauses of the workers by garbage collection, from their samples. A sample counts since the worker's start, so the
 * increments are added up; for a worker older than the journal, from its first sample.
 *
 * @typedef {object} Pauses
 * @property {Shared} scavenges collections of the new space
 * @property {Shared} markSweeps collections of the whole heap
 * @property {Count} workersMs time of all workers that the samples cover, added up
 * @property {Count} longestLoopLagMs longest delay of a worker's event loop
 *
 * @typedef {object} Shared pauses of one kind of collection
 * @property {Count} count @property {Count} totalMs @property {Count} longestMs
 * @property {Share} share of the workers' time
 *
 * @typedef {{ t: number, ageMs: number | null, counts: Record<Kind, { count: number, totalMs: number }> }} Seen
 * @typedef {'scavenges' | 'markSweeps'} Kind
 */

const { asCount, asNumber, asObject } = require('../../core/journal-field')
/** @import { Count, Share } from '../../core/journal-field' */
/** @import { LineHandlers, ReadLine } from '../../lines' */

const KINDS = /** @type {const} */ (['scavenges', 'markSweeps'])
const MOST_WORKERS = 5000

class Collections {
  /** @type {Record<Kind, Omit<Shared, 'share'>>} */
  #totals = { scavenges: { count: 0, totalMs: 0, longestMs: 0 }, markSweeps: { count: 0, totalMs: 0, longestMs: 0 } }
  #workersMs = 0
  #longestLagMs = 0
  #isSilent = true
  /** The last counts of each worker, by pid. @type {Map<unknown, Seen>} */
  #seen = new Map()

  /** @type {LineHandlers} */
  handlers = Object.freeze({
    'worker.spawn': line => {
      const t = asNumber(line.t)
      if (line.adopted) this.#seen.delete(line.pid) // what it has counted so far is in the lines before
      else if (t !== null) this.#remember(line.pid, { t, ageMs: null, counts: countsOf({}) })
    },
    'worker.sample': line => this.#onSample(line),
    'worker.retire': line => { this.#seen.delete(line.pid) },
    'worker.crash': line => { this.#seen.delete(line.pid) }
  })

  /** @returns {Pauses | null} null: the journal is of an older version, which does not record pauses */
  summary () {
    if (this.#isSilent) return null
    const shared = (/** @type {Kind} */ kind) => {
      const { count, totalMs, longestMs } = this.#totals[kind]
      return {
        count,
        totalMs: Math.round(totalMs * 1000) / 1000,
        longestMs,
        share: this.#workersMs > 0 ? Math.min(1, totalMs / this.#workersMs) : 0
      }
    }
    return {
      scavenges: shared('scavenges'), markSweeps: shared('markSweeps'), workersMs: this.#workersMs,
      longestLoopLagMs: this.#longestLagMs
    }
  }

  /** @param {ReadLine<'worker.sample'>} line */
  #onSample ({ t: time, pid, ageMs: age, gc, loopLagMs }) {
    const [t, of] = [asNumber(time), asObject(gc)]
    if (t === null || typeof gc !== 'object' || gc === null) return
    this.#isSilent = false
    const counts = countsOf(of)
    const seen = { t, ageMs: asNumber(age), counts }
    const before = this.#seen.get(pid) ?? seen
    this.#remember(pid, seen)
    this.#workersMs += Math.max(0, msBetween(before, seen))
    this.#longestLagMs = Math.max(this.#longestLagMs, asCount(loopLagMs))
    for (const kind of KINDS) {
      const total = this.#totals[kind]
      total.count += Math.max(0, counts[kind].count - before.counts[kind].count)
      total.totalMs += Math.max(0, counts[kind].totalMs - before.counts[kind].totalMs)
      total.longestMs = Math.max(total.longestMs, asCount(asObject(of[kind]).longestMs))
    }
  }

  /** @param {unknown} pid @param {Seen} seen */
  #remember (pid, seen) {
    this.#seen.delete(pid)
    this.#seen.set(pid, seen)
    if (this.#seen.size > MOST_WORKERS) this.#seen.delete(this.#seen.keys().next().value)
  }
}

/**
 * By the worker's age, which is independent of the wall clock; a standby's age restarts when it takes a slot.
 * @param {Seen} before @param {Seen} after
 */
function msBetween (before, after) {
  const isByAge = before.ageMs !== null && after.ageMs !== null && after.ageMs >= before.ageMs
  return isByAge ? Number(after.ageMs) - Number(before.ageMs) : after.t - before.t
}

/** @param {Record<string, unknown>} gc @returns {Seen['counts']} */
function countsOf (gc) {
  const of = (/** @type {Kind} */ kind) => {
    const { count, totalMs } = asObject(gc[kind])
    return { count: asCount(count), totalMs: asCount(totalMs) }
  }
  return { scavenges: of('scavenges'), markSweeps: of('markSweeps') }
}

module.exports = { Collections }
