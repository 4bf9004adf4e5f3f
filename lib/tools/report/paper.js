'use strict'

const { escapeControls } = require('../../core/escape-controls')
const { clip, layOut } = require('../../core/grid')
const { grouped } = require('../../core/units')
/** @typedef {Parameters<ReturnType<typeof import('../../journal/painter').painter>>[0]} Style */

/**
 * Draws the parts of a report in a terminal, those of features among them.
 * @param {ReturnType<typeof import('../../journal/painter').painter>} paint @param {number} width columns
 */
const paperOf = (paint, width) => ({
  paint,
  width,
  /**
   * @param {Parameters<typeof layOut>[0]} titles @param {string[][]} rows
   * @param {{ omitted?: number, what?: string, head?: Style, style?: Style | ((at: number) => Style | null) }} [how]
   *   `omitted`: earlier rows, not listed, and `what` they are; `style` of all rows, or of each
   * @returns {string[]} none where there are no rows
   */
  table (titles, rows, { omitted = 0, what = 'earlier ones', head = 'dim', style } = {}) {
    if (rows.length === 0) return []
    const [heading, ...lines] = layOut(titles, rows, width)
    const painted = lines.map((line, at) => {
      const own = typeof style === 'function' ? style(at) : style
      return own ? paint(own, line) : line
    })
    return [paint(head, heading), ...painted, ...omitted > 0 ? [paint('dim', `and ${grouped(omitted)} ${what}`)] : []]
  },
  /** A line of which the end is left out where it is too long; `keepsEnd`: the beginning of the text. */
  line: (/** @type {string} */ start, /** @type {string} */ text, keepsEnd = false) =>
    `${start}${clip(escapeControls(text), width - start.length, keepsEnd)}`
})

module.exports = { paperOf }
