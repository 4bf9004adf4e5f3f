'use strict'

/**
 * The supervisor's log, on stderr: the journal's events as sentences for people, or as pino's lines for machines.
 */

const { escapeJson } = require('../core/plain')
const { sentence, prettyLine, levelOf, isQuiet } = require('../journal/sentence')

/** @typedef {Record<string, any>} Line */

/**
 * @param {'pretty' | 'json' | 'silent'} format
 * @param {NodeJS.WriteStream} stream
 * @returns {(line: Line) => void}
 */
function openLog (format, stream) {
  if (format === 'silent') return () => {}
  return format === 'json' ? jsonLog(/** @type {any} */ (stream).fd) : prettyLog(stream)
}

/** @param {number} fd */
function jsonLog (fd) {
  const { pino } = require('pino')
  const { hostname } = require('node:os')
  const base = { name: 'recycle', hostname: hostname(), primary: process.pid }
  const log = pino({ base, hooks: { streamWrite: escapeJson } }, pino.destination({ dest: fd, sync: true }))
  return (/** @type {Line} */ line) => {
    if (isQuiet(line)) return
    const { v, t, ...fields } = line
    log[levelOf(line)]({ ...fields, pid: fields.pid ?? process.pid }, sentence(line)) // no line of pino's is without one
  }
}

/** @param {NodeJS.WriteStream} stream */
function prettyLog (stream) {
  stream.on('error', () => {}) // its reader has gone: the fleet stays
  const colors = stream.isTTY && stream.hasColors()
  return (/** @type {Line} */ line) => {
    if (!isQuiet(line)) stream.write(`${prettyLine(line, { colors })}\n`)
  }
}

module.exports = { openLog }
