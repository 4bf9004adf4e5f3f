'use strict'

/**
 * The supervisor's log, on stderr: the journal's events as sentences for people, or in pino's format for machines. pino
 * itself would take 8 MB of the primary's memory, for what is here one line.
 */

const { escapeJson } = require('../core/escape-controls')
const { sentence, prettyLine, levelOf, isQuiet } = require('../journal/sentence')

/** @typedef {Record<string, any>} Line */

const LEVELS = { info: 30, warn: 40, error: 50 }

/**
 * @param {'pretty' | 'json' | 'silent' | null} format null: pretty on a terminal, else json
 * @param {import('./outputs').Outputs} outputs @returns {(line: Line) => void}
 */
function openLog (format, outputs) {
  if (format === 'silent') return () => {}
  const { isTTY } = process.stderr
  const textOf = (format ?? (isTTY ? 'pretty' : 'json')) === 'json' ? jsonOf() : prettyOf({ colors: isTTY && process.stderr.hasColors() })
  const output = outputs.of(2)
  return line => { if (!isQuiet(line)) output.log(`${textOf(line)}\n`) }
}

/** @returns {(line: Line) => string} */
function jsonOf () {
  const { hostname } = require('node:os')
  const base = { name: 'recycle', hostname: hostname(), primary: process.pid }
  return line => {
    const { v, t, ...fields } = line
    return escapeJson(JSON.stringify({
      level: LEVELS[levelOf(line)], time: t, ...base, ...fields, pid: fields.pid ?? process.pid, msg: sentence(line)
    }))
  }
}

/** @param {{ colors: boolean }} how @returns {(line: Line) => string} */
function prettyOf (how) {
  return line => prettyLine(line, how)
}

module.exports = { openLog }
