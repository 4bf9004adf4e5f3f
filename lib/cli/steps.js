'use strict'

const { prettyLine } = require('../journal/sentence')

const BAR_WIDTH = 20

/**
 * The progress of a command: a line for each step, and on a terminal a bar below them.
 *
 * @param {NodeJS.WriteStream} stream
 * @param {string} doing
 */
function openSteps (stream, doing) {
  const isTerminal = stream.isTTY
  const colors = isTerminal && stream.hasColors()
  const erase = isTerminal ? '\r\x1b[K' : ''
  const bar = (/** @type {number} */ done, /** @type {number} */ of) => {
    const filled = of === 0 ? 0 : Math.round(done / of * BAR_WIDTH)
    return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${doing}: ${done} of ${of}`
  }
  if (isTerminal) stream.write(`${'░'.repeat(BAR_WIDTH)} ${doing}`)
  return {
    /** @param {{ done: number, of: number, line?: Record<string, any> }} progress */
    update ({ done, of, line }) {
      stream.write(`${erase}${line ? `${prettyLine(line, { colors })}\n` : ''}${isTerminal ? bar(done, of) : ''}`)
    },
    close () {
      stream.write(erase)
    }
  }
}

module.exports = { openSteps }
