'use strict'

const { h } = require('./element.cjs')
const { figuresRow, ofFigures } = require('./grid.cjs')

/**
 * New code beside that before, figure by figure.
 * @param {{ title: string, text: string, isBad: boolean, rows: { label: string, old: string, fresh: string,
 *   isWorse: boolean }[] }[]} list
 * @returns {HTMLElement | null} null: nothing was compared
 */
function comparisons (list) {
  if (list.length === 0) return null
  const heading = list.length === 1 ? list[0].title : 'Reloads whose code was compared first'
  return h('section', {}, [h('h2', {}, [heading]), ...list.flatMap(({ title, text, isBad, rows }) => [
    h(`p.hint${isBad ? '.bad' : ''}`, {},
      [list.length === 1 ? `${text[0].toUpperCase()}${text.slice(1)}.` : `${title}: ${text}.`]),
    rows.length === 0
      ? null
      : ofFigures(title, 'Workers of the code before, and of the new code, over the same time', ['before', 'new'],
        rows.map(({ label, old, fresh, isWorse }) => figuresRow(label, [old, fresh], `tr${isWorse ? '.bad' : ''}`)))
  ])])
}

module.exports = { comparisons }
