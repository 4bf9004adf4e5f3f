'use strict'

/** @import { CrashEvent } from '../../journal/audit' */
/** @import { Drop } from './client' */
/** @import { RecycleEvent } from '../../journal/recycle-event' */

/**
 * Joins the records of the client and of the supervisor: attributes each dropped request to a recycle and its phase.
 *
 *     surge    the replacement boots beside the old worker, which still serves
 *     drain    the old worker accepts nothing new and finishes its requests
 *     kill     the old worker has given its account and exits
 *     none     no worker was being replaced
 *
 * A drop whose local port is the remote port of a connection that the supervisor cut in that drain is joined by port,
 * which is certain. Any other drop is joined by time, which may be a coincidence.
 *
 * @typedef {'surge' | 'drain' | 'kill' | 'none'} Phase
 *
 * @typedef {object} Attribution
 * @property {RecycleEvent | null} event
 * @property {CrashEvent | null} crash of a worker at that time
 * @property {Phase} phase @property {'port' | 'time' | null} joinedBy
 */

const SLACK_MS = 250 // a client on a busy machine notices a failure late

/** @type {Readonly<Attribution>} */
const NONE = Object.freeze({ event: null, crash: null, phase: 'none', joinedBy: null })

/** @type {Readonly<Record<Phase, number>>} the phase in which a drop is most likely comes first */
const RANK = Object.freeze({ kill: 0, drain: 1, surge: 2, none: 3 })

/**
 * Sets `attribute` of every drop, and `dropped` of every event.
 * @param {readonly Drop[]} drops @param {readonly RecycleEvent[]} events @param {readonly CrashEvent[]} crashes
 */
function attribute (drops, events, crashes) {
  const cuts = cutsByPort(events)
  const eventsInTime = new InTime(events, event => event.beganAt, event => event.t + SLACK_MS)
  const crashesInTime = new InTime(crashes, crash => crash.t - SLACK_MS, crash => crash.t + SLACK_MS)
  for (const event of events) event.dropped = 0
  for (const drop of drops) {
    drop.attribute = byPort(drop, cuts) ?? byCrash(drop, crashesInTime) ?? byTime(drop, eventsInTime) ?? NONE
    if (drop.attribute.event) drop.attribute.event.dropped++
  }
}

/** @typedef {{ event: RecycleEvent, isTaken: boolean }} CutPort */

/** @param {readonly RecycleEvent[]} events */
function cutsByPort (events) {
  /** @type {Map<number, CutPort[]>} */
  const cuts = new Map()
  for (const event of events) {
    for (const { remotePort } of event.cuts) {
      if (remotePort === null) continue
      const here = cuts.get(remotePort) ?? []
      here.push({ event, isTaken: false })
      cuts.set(remotePort, here)
    }
  }
  return cuts
}

/** @param {Drop} drop @param {Map<number, CutPort[]>} cuts @returns {Attribution | null} */
function byPort ({ t, startedAt, localPort }, cuts) {
  const here = localPort === null ? undefined : cuts.get(localPort)
  const cut = here?.find(({ event, isTaken }) =>
    !isTaken && startedAt <= event.t + SLACK_MS && t >= event.drainAt - SLACK_MS)
  if (!cut) return null
  cut.isTaken = true // ports come around again, and pipelined requests share one
  return { event: cut.event, crash: null, phase: 'drain', joinedBy: 'port' }
}

/** @param {Drop} drop @param {InTime<CrashEvent>} crashes @returns {Attribution | null} */
function byCrash ({ t, error }, crashes) {
  if (error === 'status' || error === 'timeout') return null
  const [crash] = crashes.at(t, t).sort((a, b) => Math.abs(a.t - t) - Math.abs(b.t - t))
  return crash ? { event: null, crash, phase: 'none', joinedBy: 'time' } : null
}

/** @param {Drop} drop @param {InTime<RecycleEvent>} events @returns {Attribution | null} */
function byTime ({ t, startedAt, error }, events) {
  // A request that timed out was most likely lost when it was sent.
  const from = error === 'timeout' ? startedAt : t
  const to = error === 'timeout' ? startedAt + SLACK_MS : t
  const [first] = events.at(from, to)
    .map(event => ({ event, phase: phaseAt(event, from) }))
    .sort((a, b) => Number(b.event.lost) - Number(a.event.lost) || RANK[a.phase] - RANK[b.phase] ||
      b.event.beganAt - a.event.beganAt)
  return first ? { ...first, crash: null, joinedBy: 'time' } : null
}

/** @param {RecycleEvent} event @param {number} t @returns {Phase} */
function phaseAt ({ how, drainAt, drainedAt, retiredAt }, t) {
  if (t < drainAt) return 'surge'
  if (t < drainedAt) return 'drain'
  return how === 'drain-first' && t >= retiredAt ? 'surge' : 'kill'
}

/** Finds the items that overlap a time span. The items' own spans may overlap. @template Item */
class InTime {
  /**
   * Ascending by `from`; `latest`: the latest end so far, which stops a search backward.
   * @type {{ item: Item, from: number, to: number, latest: number }[]}
   */
  #spans

  /** @param {readonly Item[]} items @param {(item: Item) => number} from @param {(item: Item) => number} to */
  constructor (items, from, to) {
    let latest = -Infinity
    this.#spans = items
      .map(item => ({ item, from: from(item), to: to(item), latest }))
      .sort((a, b) => a.from - b.from)
    for (const span of this.#spans) span.latest = latest = Math.max(latest, span.to)
  }

  /** @param {number} from @param {number} to @returns {Item[]} */
  at (from, to) {
    const found = []
    for (let i = countOfFirst(this.#spans, span => span.from <= to) - 1; i >= 0 && this.#spans[i].latest >= from; i--) {
      if (this.#spans[i].to >= from) found.push(this.#spans[i].item)
    }
    return found
  }
}

/**
 * @template T @param {readonly T[]} sorted @param {(item: T) => boolean} isFirst of some at its begin, and of no other
 * @returns {number} how many these are
 */
function countOfFirst (sorted, isFirst) {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isFirst(sorted[middle])) low = middle + 1
    else high = middle
  }
  return low
}

module.exports = { attribute, countOfFirst, NONE }
