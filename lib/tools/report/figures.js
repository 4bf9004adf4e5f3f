'use strict'

/**
 * The figures of a report, computed line by line from journals, in bounded memory. Pure: it reads no file and no clock,
 * and takes the client's and the supervisor's lines in any order.
 *
 *     line ─┬▶ Audit  (the supervisor) ─┬▶ attribute() ─▶ summary()   the figures, as in --json
 *           └▶ Client (the load)       ─┘              ─▶ series()    values over time, for charts
 */

const { FEATURES } = require('../../features')
const { reportPartOf } = require('../../features/by-name')
const { Audit } = require('../../journal/audit')
const { attribute } = require('./attribution')
const { Client } = require('./client')
const { Collections } = require('./collections')
const { asNumber } = require('../../core/journal-field')
const { pick } = require('../../core/fields')
const { Gaps } = require('./gaps')
const { Latency } = require('./histogram')
const { Memory } = require('./memory')
const { TimeSpans } = require('./time-spans')
const { verdictOf } = require('../../journal/verdict')

const VERSION = /** @type {const} */ (1)
const STEP_MS = 10_000 // older journals have samples that were written some time after they were taken

/** @typedef {ReturnType<Figures['series']>} Series */

class Figures {
  #spans = new TimeSpans()
  #memory = new Memory()
  #latency = new Latency(this.#spans)
  #client = new Client(this.#latency)
  #audit = new Audit({
    addSpan: (from, to) => this.#spans.add(from, to),
    addMemory: (...point) => this.#memory.add(...point),
    beforeThinning: () => this.#attribute()
  })

  /** The gaps of the journal. */
  gaps = new Gaps()
  #collections = new Collections()
  /** By key. @type {[string, import('../../features').Figures][]} */
  #ofFeatures = FEATURES.flatMap(({ name, report }) =>
    report === undefined ? [] : [[report, new (reportPartOf(name).Figures)()]])

  #from = Infinity
  #to = -Infinity
  /** Time of the supervisor's last line. */
  #wroteAt = -Infinity
  #clockSetBackMs = 0
  #isFinished = false
  /** @type {Map<string, ((line: Record<string, any>) => void)[]>} */
  #handlers = new Map()

  constructor () {
    for (const { handlers } of [
      this.#client, this.#audit, this.#collections, ...this.#ofFeatures.map(([, part]) => part)
    ]) {
      for (const [event, handle] of Object.entries(handlers)) {
        this.#handlers.set(event, [...this.#handlers.get(event) ?? [], handle])
      }
    }
  }

  /** @param {Record<string, any>} line of a journal; unknown events are ignored */
  add (line) {
    if (!String(line.event).startsWith('client.')) this.gaps.add(line)
    const handlers = this.#handlers.get(line.event)
    if (!handlers) return
    const t = asNumber(line.t)
    if (t !== null && t < this.#from) this.#from = t
    if (t !== null && t > this.#to) this.#to = t
    if (t !== null && !line.event.startsWith('client.')) this.#lookAtClock(t)
    for (const handle of handlers) handle(line)
  }

  /**
   * The figures. Call it after the last line.
   * @param {{ runsOn?: boolean }} [how] the fleet runs: its journal goes on
   * @returns {Omit<import('.').Report, 'skippedLines'>}
   */
  summary ({ runsOn = true } = {}) {
    this.#finish(runsOn)
    const { totals, byReason, restarted, fleet, events, crashEvents } = this.#audit
    const { isSilent, requests, dropped, wasCutShort, url, connections, sockets, kills, isAlone, drops } = this.#client
    const figures = {
      v: VERSION,
      ...fleet,
      from: Number.isFinite(this.#from) ? this.#from : null,
      to: Number.isFinite(this.#to) ? this.#to : null,
      client: isSilent ? null : { url, connections, sockets, kills, isAlone, wasCutShort },
      requests: isSilent ? null : requests,
      dropped: isSilent ? null : dropped,
      ...pick(this.#audit, ['recycles', 'crashes', 'crashesInDrains', 'oomKills']),
      ...pick(this.#audit, ['connectionsAtCrashes', 'inFlightAtCrashes']),
      ...pick(totals, ['moved', 'refused', 'takenBack', 'unacked', 'cut', 'streamsCut']),
      restarted: Object.fromEntries(restarted),
      unaccounted: totals.unaccounted,
      byReason: Object.fromEntries(byReason),
      latency: this.#latency.summary(),
      gc: this.#collections.summary(),
      ...this.#summariesOfFeatures(),
      drops: drops.items.map(shownDrop),
      dropsOmitted: drops.omitted,
      recycleEvents: [...events.items],
      recycleEventsOmitted: events.omitted,
      crashEvents: [...crashEvents.items],
      crashEventsOmitted: crashEvents.omitted,
      clockSetBackMs: this.#clockSetBackMs,
      clockSetForwardMs: this.gaps.clockSetForwardMs,
      gaps: this.gaps.list,
      disagreements: isSilent ? [] : disagreements(drops.items, events.items)
    }
    return { verdict: verdictOf(figures), ...figures }
  }

  /** The values over time. */
  series () {
    /** @type {Record<string, Record<string, unknown>[]>} */
    const ofFeatures = Object.fromEntries(this.#ofFeatures.flatMap(([key, part]) =>
      part.series ? [[key, part.series()]] : []))
    return { memory: this.#memory.series(), client: this.#client.series(), ...ofFeatures }
  }

  /**
   * A supervisor writes its lines in order, so a step back in time means that the clock was set.
   * @param {number} t of the line
   */
  #lookAtClock (t) {
    if (t < this.#wroteAt - STEP_MS) this.#clockSetBackMs += this.#wroteAt - t
    this.#wroteAt = t
  }

  /** @param {boolean} runsOn */
  #finish (runsOn) {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#audit.finish()
    this.gaps.finish(runsOn)
    const { list } = this.gaps
    const client = this.#client
    const unfinished = this.#audit.events.items.find(({ kind }) => kind === 'unfinished')
    if (!runsOn && unfinished && list.length === 0) {
      list.push({ from: unfinished.drainAt, to: null, why: 'a drain has no account' })
    }
    if (!runsOn && client.wasCutShort) list.push({ from: this.#to, to: null, why: "the client's record is cut short" })
    if (!runsOn && !client.isSilent && client.requests === 0) {
      list.push({ from: this.#from, to: this.#to, why: 'the client sent no request' })
    }
    this.#audit.events.thin()
    this.#audit.crashEvents.thin()
    this.#client.drops.thin()
    this.#attribute()
  }

  /** @returns {Record<string, unknown>} */
  #summariesOfFeatures () {
    return Object.assign({}, ...this.#ofFeatures.map(([key, part]) => ({
      [key]: part.summary(), ...part.omitted !== undefined && { [`${key}Omitted`]: part.omitted }
    })))
  }

  #attribute () {
    attribute(this.#client.drops.items, this.#audit.events.items, this.#audit.crashEvents.items)
  }
}

/** @param {import('./client').Drop} drop @returns {import('./client').DropFigures} */
function shownDrop ({ attribute: { event, crash, phase, joinedBy }, ...drop }) {
  return {
    ...drop,
    recycle: event?.id ?? null,
    slot: event?.slot ?? crash?.slot ?? null,
    oldPid: event?.oldPid ?? crash?.pid ?? null,
    pid: event?.pid ?? null,
    phase,
    joinedBy,
    crashed: crash !== null
  }
}

/**
 * Disagreements between client and supervisor: for each recycle, how many requests the client lost, and how many the
 * supervisor cut. A response with the wrong status is not a lost request. The supervisor knows nothing of connections
 * that are unaccounted for, so the client may have lost requests on these.
 *
 * @typedef {object} Disagreement
 * @property {number | null} recycle its id; null: outside any recycle
 * @property {import('../../core/journal-field').Count} client requests that the client lost
 * @property {import('../../core/journal-field').Count} supervisor requests that the supervisor cut
 */

/**
 * @param {readonly import('./client').Drop[]} drops with their attribute
 * @param {readonly import('../../journal/recycle-event').RecycleEvent[]} events @returns {Disagreement[]}
 */
function disagreements (drops, events) {
  const lost = drops.filter(({ error }) => error !== 'status')
  /** @type {Map<unknown, number>} */
  const byEvent = new Map()
  for (const { attribute: { event } } of lost) byEvent.set(event, (byEvent.get(event) ?? 0) + 1)
  const found = events
    .map(event => ({
      recycle: /** @type {number | null} */ (event.id),
      client: byEvent.get(event) ?? 0,
      supervisor: event.cuts.filter(({ upgraded }) => !upgraded).length || Number(event.cut),
      unaccounted: Number(event.unaccounted)
    }))
    .filter(({ client, supervisor, unaccounted }) => client < supervisor || client > supervisor + unaccounted)
    .map(({ recycle, client, supervisor }) => ({ recycle, client, supervisor }))
  // The supervisor's journal records crashes too: no disagreement.
  const outside = lost.filter(({ attribute }) => attribute.event === null && attribute.crash === null).length
  return outside === 0 ? found : [...found, { recycle: null, client: outside, supervisor: 0 }]
}

module.exports = { Figures }
