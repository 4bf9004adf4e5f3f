'use strict'

/** In the report: each reload whose code was compared first, and what came of it. */

const { listOf } = require('../../core/bounded-list')
const { asNumber, asText } = require('../../core/journal-field')
const { FIGURES } = require('./figures')
const { rowsOf, sayVerdict } = require('./sentence')
/** @import { Figure } from './verdict' */

/** @typedef {import('../../operate/admin/picture').Live & { t: number }} Comparison */

/** @param {import('../../lines').ReadLine<'canary.verdict'>} line @returns {Comparison | null} */
function comparison (line) {
  const t = asNumber(line.t)
  if (t === null || !Array.isArray(line.figures)) return null
  const text = sayVerdict({
    isGood: line.isGood === true, verdict: asText(line.verdict), why: asText(line.why) ?? '',
    bakeMs: asNumber(line.bakeMs) ?? 0
  })
  return {
    t, title: `Generation ${asNumber(line.generation) ?? '–'}`, text, isBad: line.isGood !== true,
    rows: rowsOf(line.figures.filter(isFigure))
  }
}

/** @param {any} given of a journal that may be of another version @returns {given is Figure} */
function isFigure (given) {
  return FIGURES.some(({ name }) => name === given?.name) && typeof given.unit === 'string' &&
    [given.old, given.fresh].every(value => value === null || typeof value === 'number')
}

/**
 * @param {Comparison[]} comparisons reloads that compared new code with that before, oldest first
 * @param {import('..').Terminal} tools @returns {string[]}
 */
function linesOf (comparisons, { paint, line }) {
  return [paint('dim', 'reloads whose code was compared first'), ...comparisons.map(({ title, text, isBad }) =>
    paint(isBad ? 'red' : 'green', line(`${title.toLowerCase()}: `, text)))]
}

module.exports = { Figures: listOf('canary.verdict', comparison), linesOf }
