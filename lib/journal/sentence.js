'use strict'

/** The journal's events as sentences, for the log and for `recycle tail`. */

const { attempt } = require('../core/attempt')
const { streamsCut } = require('../core/account')
const { escapeControls } = require('../core/escape-controls')
const { EVENTS } = require('./events')
const { FORMAT } = require('./format')
const { painter } = require('./painter')
/** @import { Event } from '../features' */

/** @typedef {Record<string, any>} Line */

/** @type {Partial<Record<ReturnType<typeof levelOf>, 'red' | 'yellow'>>} */
const COLORS = { warn: 'yellow', error: 'red' }

/** Lines that are only in the journal. @param {Line} line */
const isQuiet = line => ownLevel(line) === 'quiet'

/**
 * @param {Line} line @param {{ colors?: boolean }} [how]
 * @returns {string} the local time and the sentence, in colour by its level
 */
function prettyLine (line, { colors = false } = {}) {
  const paint = painter(colors)
  const time = new Date(line.t).toTimeString().slice(0, 8)
  const text = escapeControls(sentence(line))
  const level = levelOf(line)
  const color = COLORS[level]
  return `${paint('dim', time)} ${color ? paint(color, text) : text}`
}

/** @param {Line} line of any version: if it lacks a field of its sentence, the sentence is the event's name */
const sentence = line => attempt(() => rowOf(line)?.sentence?.(line, FORMAT) ?? line.event, line.event)

/** @param {Line} line that is not quiet @returns {'debug' | 'info' | 'warn' | 'error'} */
function levelOf (line) {
  const own = ownLevel(line)
  if (line.cut > streamsCut(line) || line.unaccounted > 0 || own === 'error') return 'error'
  if (line.cut > 0) return 'warn'
  if (line.ended === 'killed' || line.ended === 'crashed') return 'warn'
  return own === 'warn' || own === 'debug' ? own : 'info'
}

/** @param {Line} line @returns {Event | undefined} undefined: of another version */
const rowOf = ({ event }) => Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined

/** @param {Line} line */
function ownLevel (line) {
  const level = rowOf(line)?.level
  return typeof level === 'function' ? level(line) : level
}

module.exports = { sentence, prettyLine, levelOf, isQuiet }
