'use strict'

/** The steps of a command that changes a fleet, as they are done, and what it waits for. */

const { bar } = require('../core/grid')
const { escapeControls } = require('../core/escape-controls')
const { count, formatTime } = require('../core/units')
const { prettyLine } = require('../journal/sentence')

const BAR_WIDTH = 20
const NOTICE_MS = 3000 // a drain that takes longer is explained
/** Help while a worker drains, and when it has drained. */
const HINTS = {
  drain: 'what is still open then is closed; sooner: an app that ends its streams on SIGTERM or recycle:drain, ' +
    'or a shorter --drain-timeout',
  end: 'a process that does not end is killed; sooner: an app that ends on SIGTERM, or a shorter --kill-timeout'
}

/**
 * @typedef {object} Wait a worker that drains
 * @property {number | null} slot @property {number} pid @property {number} connections @property {number} streams
 * @property {number} inFlight
 * @property {number | null} drainLeftMs null: it has drained, and its process is to end
 */

/**
 * The progress of a command: a line for each step, what is waited for where that takes long, and on a terminal a bar
 * below them.
 * @param {Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors' | 'columns'> & { write: (text: string) => unknown }} stream
 * @param {string} doing @param {() => number} [now] ms
 */
function openSteps (stream, doing, now = () => performance.now()) {
  const isTerminal = stream.isTTY
  const colors = isTerminal && stream.hasColors()
  const erase = isTerminal ? '\r\x1b[K' : ''
  /** Since when each worker is waited for, by pid and phase. @type {Map<string, number>} */
  const since = new Map()
  /** @type {Set<string>} the same, and phases */
  const said = new Set()
  /** The beginning of the note that was said last. */
  let noted = ''

  /** @param {number} done @param {number} of @param {Wait[]} waits @param {string | undefined} note */
  const picture = (done, of, waits, note) => {
    const [first, ...others] = waits
    const why = first
      ? `; ${sayWait(first)}${others.length > 0 ? `, and ${others.length} more` : ''}`
      : note ? `; ${escapeControls(note)}` : ''
    const text = `${bar(of === 0 ? 0 : done / of, BAR_WIDTH)} ${doing}: ${done} of ${of}${why}`
    return text.slice(0, (stream.columns || Infinity) - 1)
  }
  /**
   * On a terminal the bar has it, and each hint is said once; elsewhere each worker has a line.
   * @param {Wait[]} waits
   */
  const explain = waits => {
    const lines = waits.flatMap(wait => {
      const phase = wait.drainLeftMs === null ? 'end' : 'drain'
      const key = `${wait.pid} ${phase}`
      if (!since.has(key)) since.set(key, now())
      if (now() - Number(since.get(key)) < NOTICE_MS) return []
      const [isNew, helps] = [!said.has(key), !said.has(phase)]
      said.add(key).add(phase)
      return [
        ...(isNew && !isTerminal) || helps ? [`waiting for ${sayWait(wait)}`] : [],
        ...helps ? [HINTS[phase]] : []
      ]
    })
    return lines.map(line => `${line}\n`).join('')
  }
  /** On a terminal the bar has it; elsewhere it is a line as often as it begins otherwise. @param {string} note */
  const explainNote = note => {
    const [beginning] = note.split(',', 1)
    if (isTerminal || beginning === noted) return ''
    noted = beginning
    return `${escapeControls(note)}\n`
  }
  if (isTerminal) stream.write(`${bar(0, BAR_WIDTH)} ${doing}`)
  return {
    /**
     * @param {{ done: number, of: number, line?: Record<string, any>, waits?: Wait[], note?: string }} progress `note`:
     *   what else is waited for
     */
    update ({ done, of, line, waits = [], note }) {
      const why = `${explain(waits)}${note ? explainNote(note) : ''}`
      const event = line ? `${prettyLine(line, { colors })}\n` : ''
      const text = `${why}${event}${isTerminal ? picture(done, of, waits, note) : ''}`
      if (text !== '') stream.write(`${erase}${text}`)
    },
    close () {
      stream.write(erase)
    }
  }
}

/** @param {Wait} wait @returns {string} `"slot 0 (4711): 2 streams (WebSockets, event streams), 21s left"` */
function sayWait (wait) {
  const { slot, pid, drainLeftMs } = wait
  const what = drainLeftMs === null
    ? 'the end of its process'
    : `${sayOpen(wait)}, ${formatTime(Math.ceil(drainLeftMs / 1000) * 1000)} left`
  return escapeControls(`${slot === null ? 'a standby' : `slot ${slot}`} (${pid}): ${what}`)
}

/** @param {Wait} wait @returns {string} what keeps it */
function sayOpen ({ connections, streams, inFlight }) {
  const parts = []
  if (streams > 0) parts.push(`${count(streams, 'stream')} (WebSockets, event streams)`)
  else if (inFlight > 0) parts.push(`${count(inFlight, 'request')} in flight`)
  const others = connections - Math.max(streams, streams > 0 ? 0 : inFlight)
  if (connections > 0 && (parts.length === 0 || others > 0)) {
    parts.push(count(Math.max(1, others), parts.length > 0 ? 'other connection' : 'connection'))
  }
  return parts.join(', ') || 'its app, which has no connection open'
}

module.exports = { openSteps, sayWait }
