'use strict'

/**
 * Whether new code is worse than the old one, by what the workers of both counted over the same stretch of time, under
 * the same traffic.
 *
 * @typedef {import('./counts').Counts & WorkerFacts} Window what a worker has counted since the warm-up; JSON
 *
 * @typedef {object} WorkerFacts
 * @property {number} slot @property {number} crashes
 * @property {number} exceptions uncaught ones
 * @property {import('./counts').Memory | null} half `memory` of the Counts, as it was in the middle of the bake; null:
 *   that is to come
 * @property {import('./counts').Block[]} blocks stretches of time, all of one length, whole ones only: the n-th of each
 *   worker is of the same seconds
 *
 * @typedef {{ old: Service, fresh: Service }} BothServices
 *
 * @typedef {object} Verdict JSON
 * @property {'good' | 'bad' | 'undecided' | 'going-on'} verdict
 * @property {Figure['name'] | null} decidedBy null: nothing is worse
 * @property {Beside} workers @property {Beside} requests
 * @property {number} leastRequests of each code
 * @property {number} limit a figure is worse if its `p` is at most so much
 * @property {Figure[]} figures always all, in one order
 *
 * @typedef {{ old: number, fresh: number }} Beside
 *
 * @typedef {object} Figure
 * @property {'crashes' | 'exceptions' | 'errors' | 'unfinished' | 'refusals' | 'empty' | 'p50' | 'p99' | 'loop' |
 *   'memory'} name
 * @property {'count' | 'share' | 'ms' | 'ms a request' | 'bytes a request'} unit
 * @property {number | null} old null: not known
 * @property {number | null} fresh
 * @property {{ old: number | null, fresh: number | null } | null} slow of p50 and p99: the share of responses that are
 *   slower than the old workers' p50, p99 (new code: and 5 %)
 * @property {boolean} isWorse
 * @property {number} p how likely so large a difference is in equal code, at most; 1: it is none, or it cannot be told
 * @property {string | null} why it is not worse; null: it is
 */

const { FIGURES } = require('./figures')
/** @import { Service } from './primary' */

const ALPHA = 0.01
const LEAST_REQUESTS = 200
const EARLY_SHARE = 0.3 // of alpha
const MOST_LOOKS = 3600 // once a second for an hour

/**
 * @param {object} bake @param {readonly Window[]} bake.old of each worker of the old code, in any order
 * @param {readonly Window[]} bake.fresh of each worker of the new code
 * @param {BothServices | null} [bake.service] since each code began to serve; null: that is not known
 * @param {boolean} bake.isFinal false: the bake goes on, and only what is beyond doubt is said
 * @param {number} [bake.alpha] how often equal code may be called bad, over all figures and looks; 0 to 1
 * @param {number} [bake.leastRequests] of each code, below which nothing is said in the end @returns {Verdict}
 */
function judge ({ isFinal, service = null, alpha = ALPHA, leastRequests = LEAST_REQUESTS, ...bake }) {
  // Sums of fractions depend on the order
  const [old, fresh] = [bake.old, bake.fresh].map(windows => [...windows].sort((a, b) => a.slot - b.slot))
  const limit = (isFinal ? (1 - EARLY_SHARE) * alpha : EARLY_SHARE * alpha / MOST_LOOKS) / FIGURES.length
  const figures = FIGURES.map(({ name, unit, isLate, value, slow, find }) => {
    const { chance, why } = isLate && !isFinal
      ? { chance: 1, why: 'known at the end of the bake' }
      : find(fresh, old, service)
    const isWorse = why === null && chance <= limit
    return {
      name,
      unit,
      old: value(old),
      fresh: value(fresh),
      slow: slow ? { old: slow(old), fresh: slow(fresh) } : null,
      isWorse,
      p: chance,
      why: isWorse ? null : `it is ${why ?? 'within what chance alone makes'}`
    }
  })
  const [oldRequests, freshRequests] = [old, fresh].map(windows =>
    windows.reduce((sum, { requests }) => sum + requests, 0))
  const decidedBy = figures.find(({ isWorse }) => isWorse)?.name ?? null
  const isEnough = Math.min(oldRequests, freshRequests) >= leastRequests
  return {
    verdict: decidedBy ? 'bad' : !isFinal ? 'going-on' : isEnough ? 'good' : 'undecided',
    decidedBy,
    workers: { old: old.length, fresh: fresh.length },
    requests: { old: oldRequests, fresh: freshRequests },
    leastRequests,
    limit,
    figures
  }
}

module.exports = { judge }
