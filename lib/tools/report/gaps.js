'use strict'

/**
 * The gaps of a journal: from when to when nothing is known, and why. Pure.
 *
 * A fleet's lines come at least at every interval, from `fleet.start` to `fleet.stop`. So a second start without a
 * stop, an end without one, lines that were lost or cannot be read, and a silence each mean that something may have
 * been cut of which there is no account.
 *
 * @typedef {object} Gap
 * @property {number | null} from
 * @property {number | null} to null: the journal ends before
 * @property {string} why
 */

const { OF_ORPHANS } = require('../../core/orphan')
const { count } = require('../../core/units')
const { SUCCESSION } = require('../../features')
const { asCount, asNumber, asObject, asText, handleLine } = require('../../core/journal-field')
/** @import { LineHandlers, ReadLine } from '../../lines' */

const MOST = 100
const BEFORE_START = ['fleet.admin', 'fleet.control', 'fleet.warning'] // the sockets are opened first
const LOOKS = 3
const SLACK_MS = 60_000 // a look may take long

class Gaps {
  /** @type {Gap[]} the first hundred */
  list = []
  /** Pid of the primary that runs the fleet; null: not known. @type {number | null} */
  pid = null
  /** Time of the supervisor's last line. @type {number | null} */
  at = null
  /** The latest time of a line: those of two primaries need not be in their order. */
  #newest = 0
  clockSetForwardMs = 0
  /** @type {number | null} */
  #intervalMs = null
  #isEnded = true
  /** By the primary that runs the fleet; each tells its own in the end. */
  #recycles = 0
  /** By the one before, which may run it again. */
  #recyclesBefore = 0
  /** A primary that is to take over. @type {{ pid: number | null, intervalMs: number | null } | null} */
  #successor = null
  /**
   * Workers of the fleet, and those of the fleet before it: their latest sample.
   * @type {Map<unknown, { t: number, ageMs: number } | null>}
   */
  #workers = new Map()
  /** @type {Set<unknown>} */
  #strangers = new Set()
  /** A silence that may be a clock that was set forward. @type {{ from: number, to: number } | null} */
  #silence = null

  /** @param {ReadLine} line of a supervisor */
  add (line) {
    const [t, event] = [asNumber(line.t), String(line.event)]
    if (Object.hasOwn(OF_ORPHANS, event)) return // their own: the primary has died before
    if (event === 'journal.gap') {
      this.#newest = Math.max(this.#newest, asCount(line.to))
      return this.#put(asNumber(line.from), asNumber(line.to), line.why === 'unreadable'
        ? `${count(asCount(line.lines), 'line')} cannot be read`
        : `${count(asCount(line.lines), 'line')} could not be written: ${asText(line.why) ?? 'not known'}`)
    }
    if (event === 'journal.end') {
      this.#isEnded = true
      return
    }
    if (event === 'journal.begin') {
      if (this.at !== null && t !== null && t > this.#newest) this.#put(this.at, t, 'a file of the journal is missing')
      return
    }
    if (event === 'fleet.start') this.#onStart(line, t)
    else this.#lookAtSilence(t)
    if (!BEFORE_START.includes(event)) this.#isEnded = false
    if (t !== null) {
      this.at = t
      this.#newest = Math.max(this.#newest, t)
    }
    handleLine(this.#handlers, line)
    if (this.#strangers.has(line.pid) && event.startsWith('worker.')) {
      this.#strangers.clear()
      this.#put(t, t, 'the lines of two fleets are mixed: each has a journal of its own')
    }
  }

  /** @type {LineHandlers} */
  #handlers = Object.freeze({
    [SUCCESSION.events.leads]: () => {
      if (this.#successor) ({ pid: this.pid, intervalMs: this.#intervalMs } = this.#successor)
      this.#successor = null
      this.#recyclesBefore = this.#recycles
      this.#recycles = 0
    },
    'fleet.slept': line => {
      const longestMs = asCount(line.sleptMs) + this.#longestMs
      if (this.#silence && this.#silence.to - this.#silence.from <= longestMs) this.#silence = null
    },
    'fleet.resumed': line => {
      this.pid = asNumber(line.pid)
      this.#recycles += this.#recyclesBefore
      this.#recyclesBefore = 0
      this.#successor = null
    },
    'fleet.stop': line => {
      const pid = asNumber(line.pid)
      if (pid === null ? this.#successor : this.pid !== null && pid !== this.pid) { // one that does not run the fleet
        this.#successor = null
        return
      }
      this.#isEnded = true
      if (this.pid !== null && asCount(line.recycles) > this.#recycles) {
        this.#put(null, this.at,
          `${count(asCount(line.recycles) - this.#recycles, 'recycle')} of ${asCount(line.recycles)} are missing`)
      }
      this.pid = null
      this.#workers.clear()
    },
    recycled: line => { if (line.how !== SUCCESSION.reason) this.#recycles++ },
    'worker.spawn': line => {
      this.#strangers.delete(line.pid)
      this.#workers.set(line.pid, null)
    },
    'worker.retire': line => { this.#workers.delete(line.pid) },
    'worker.crash': line => { this.#workers.delete(line.pid) },
    'worker.sample': line => this.#onSample(line)
  })

  /** Call it after the last line. @param {boolean} runsOn the fleet runs, as far as is known */
  finish (runsOn) {
    this.#keepSilence()
    if (this.at !== null && !this.#isEnded && !runsOn) {
      this.#put(this.at, null, 'the journal ends before the fleet does')
    }
  }

  /** How long after its last line a journal may be one of a fleet that runs. @returns {number} ms */
  get patienceMs () {
    return LOOKS * (this.#intervalMs ?? 5000) + 10_000
  }

  /** Without a line, ms. */
  get #longestMs () {
    return LOOKS * Number(this.#intervalMs) + SLACK_MS
  }

  /** @param {ReadLine<'fleet.start'>} line @param {number | null} t */
  #onStart ({ pid, predecessor, options }, t) {
    const started = { pid: asNumber(pid), intervalMs: asNumber(asObject(options).intervalMs) }
    if (asNumber(predecessor) !== null) {
      this.#successor = started
      return
    }
    if (!this.#isEnded && this.at !== null) this.#put(this.at, t, 'the supervisor ended without a stop')
    this.#keepSilence()
    this.#strangers = new Set(this.#workers.keys())
    this.#workers.clear()
    ;({ pid: this.pid, intervalMs: this.#intervalMs } = started)
    this.#recycles = 0
    this.#successor = null
  }

  /** @param {number | null} t */
  #lookAtSilence (t) {
    const { at } = this
    if (t === null || at === null || this.pid === null || this.#intervalMs === null) return
    if (t - at > this.#longestMs) this.#silence ??= { from: at, to: t }
  }

  /** By its age, a worker tells whether time has passed. @param {ReadLine<'worker.sample'>} line */
  #onSample ({ pid, ...line }) {
    const before = this.#workers.get(pid)
    const [t, ageMs] = [asNumber(line.t), asNumber(line.ageMs)]
    if (t === null || ageMs === null) return
    if (this.#silence && before && before.t <= this.#silence.from) {
      const setMs = (t - before.t) - (ageMs - before.ageMs)
      if (setMs > SLACK_MS / 2) {
        this.clockSetForwardMs += setMs
        this.#silence = null
      } else {
        this.#keepSilence()
      }
    }
    this.#workers.set(pid, { t, ageMs })
  }

  #keepSilence () {
    if (this.#silence) this.#put(this.#silence.from, this.#silence.to, 'there are no lines')
    this.#silence = null
  }

  /** @param {number | null} from @param {number | null} to @param {string} why */
  #put (from, to, why) {
    if (this.list.length < MOST) this.list.push({ from, to, why })
  }
}

module.exports = { Gaps }
