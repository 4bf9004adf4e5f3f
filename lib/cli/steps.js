'use strict'

const { performance } = require('node:perf_hooks')
const { escapeControls } = require('../core/escape-controls')
const { prettyLine } = require('../journal/sentence')
const { count, formatTime } = require('../core/units')

const BAR_WIDTH = 20
const NOTICE_MS = 3000 // a drain that takes longer is explained
const HINT = 'what is still open then is closed; sooner: an app that ends its streams on SIGTERM or recycle:drain, or a shorter --drain-timeout'

/**
 * @typedef {object} Wait a worker that drains
 * @property {number | null} slot
 * @property {number} pid
 * @property {number} connections
 * @property {number} streams
 * @property {number} inFlight
 * @property {number | null} drainLeftMs
 */

/**
 * The progress of a command: a line for each step, what is waited for where that takes long, and on a terminal a bar
 * below them.
 *
 * @param {Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors' | 'columns'> & { write: (text: string) => unknown }} stream
 * @param {string} doing
 * @param {() => number} [now] ms
 */
function openSteps (stream, doing, now = () => performance.now()) {
  const isTerminal = stream.isTTY
  const colors = isTerminal && stream.hasColors()
  const erase = isTerminal ? '\r\x1b[K' : ''
  /** Since when each worker is waited for, by pid. @type {Map<number, number>} */
  const since = new Map()
  let isExplained = false
  /** @type {Set<number>} */
  const said = new Set()
  /** The beginning of the note that was said last. */
  let noted = ''

  /** @param {number} done @param {number} of @param {Wait[]} waits @param {string | undefined} note */
  const bar = (done, of, waits, note) => {
    const filled = of === 0 ? 0 : Math.round(done / of * BAR_WIDTH)
    const [first, ...others] = waits
    const why = first ? `; ${sayWait(first)}${others.length > 0 ? `, and ${others.length} more` : ''}` : note ? `; ${escapeControls(note)}` : ''
    return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${doing}: ${done} of ${of}${why}`.slice(0, (stream.columns || Infinity) - 1)
  }
  /**
   * On a terminal the bar has it, and the hint is said once; elsewhere each worker has a line.
   *
   * @param {Wait[]} waits
   */
  const explain = waits => {
    for (const wait of waits) if (!since.has(wait.pid)) since.set(wait.pid, now())
    const late = waits.filter(({ pid }) => now() - Number(since.get(pid)) >= NOTICE_MS && !said.has(pid))
    for (const { pid } of late) said.add(pid)
    const lines = late.length === 0 || (isTerminal && isExplained) ? [] : [...late.map(wait => `waiting for ${sayWait(wait)}`), ...isExplained ? [] : [HINT]]
    isExplained ||= late.length > 0
    return lines.map(line => `${line}\n`).join('')
  }
  /** On a terminal the bar has it; elsewhere it is a line as often as it begins otherwise. @param {string} note */
  const explainNote = note => {
    const [beginning] = note.split(',', 1)
    if (isTerminal || beginning === noted) return ''
    noted = beginning
    return `${escapeControls(note)}\n`
  }
  if (isTerminal) stream.write(`${'░'.repeat(BAR_WIDTH)} ${doing}`)
  return {
    /**
     * @param {{ done: number, of: number, line?: Record<string, any>, waits?: Wait[], note?: string }} progress `note`:
     *   what else is waited for
     */
    update ({ done, of, line, waits = [], note }) {
      const text = `${explain(waits)}${note ? explainNote(note) : ''}${line ? `${prettyLine(line, { colors })}\n` : ''}${isTerminal ? bar(done, of, waits, note) : ''}`
      if (text !== '') stream.write(`${erase}${text}`)
    },
    close () {
      stream.write(erase)
    }
  }
}

/** @param {Wait} wait @returns {string} `"slot 0 (4711): 2 streams (WebSockets, event streams), 21s left"` */
function sayWait ({ slot, pid, connections, streams, inFlight, drainLeftMs }) {
  const parts = []
  if (streams > 0) parts.push(`${count(streams, 'stream')} (WebSockets, event streams)`)
  else if (inFlight > 0) parts.push(`${count(inFlight, 'request')} in flight`)
  const others = connections - Math.max(streams, streams > 0 ? 0 : inFlight)
  if (parts.length === 0 || others > 0) parts.push(connections > 0 ? count(Math.max(1, others), parts.length > 0 ? 'other connection' : 'connection') : 'the end of its process')
  if (drainLeftMs !== null && connections > 0) parts.push(`${formatTime(Math.ceil(drainLeftMs / 1000) * 1000)} left`)
  return escapeControls(`${slot === null ? 'a standby' : `slot ${slot}`} (${pid}): ${parts.join(', ')}`)
}

module.exports = { openSteps, sayWait }
