'use strict'

/**
 * The supervisor's log, on stderr: the journal's events as sentences for people, or in pino's format for machines. pino itself
 * would take 8 MB of the primary's memory, for what is here one line.
 */

const { escapeJson } = require('../core/plain')
const { sentence, prettyLine, levelOf, isQuiet } = require('../journal/sentence')

/** @typedef {Record<string, any>} Line */

const LEVELS = { info: 30, warn: 40, error: 50 }
const KEPT_BYTES = 1024 ** 2 // while the disk is full, say; further lines are lost

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
  const { SonicBoom } = require('sonic-boom')
  const { hostname } = require('node:os')
  const base = { name: 'recycle', hostname: hostname(), primary: process.pid }
  const out = new SonicBoom({ fd, sync: true, maxLength: KEPT_BYTES })
  let isRead = true
  out.on('error', ({ code }) => { if (code === 'EPIPE' || code === 'EIO') isRead = false }) // its reader has gone: the fleet stays; else it is tried again
  return (/** @type {Line} */ line) => {
    if (isQuiet(line) || !isRead) return
    const { v, t, ...fields } = line
    out.write(`${escapeJson(JSON.stringify({ level: LEVELS[levelOf(line)], time: t, ...base, ...fields, pid: fields.pid ?? process.pid, msg: sentence(line) }))}\n`)
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
