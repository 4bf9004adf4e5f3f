'use strict'

/** In the report: each reload whose code was compared first, and what came of it. */

const { BoundedList } = require('../../report/bounded-list')
const { asNumber, asText } = require('../../report/journal-field')
const { rowsOf, sayVerdict } = require('./sentence')
const { TITLES } = require('./verdict-sentence')

const MOST = 1000

/**
 * @typedef {import('./verdict').Figure} Figure
 * @typedef {import('..').Live & { t: number }} Comparison
 */

class Canaries {
  /** @type {BoundedList<Comparison>} */
  #list = new BoundedList(MOST)

  /** @type {Readonly<Record<string, (line: Record<string, any>) => void>>} */
  handlers = Object.freeze({
    'canary.verdict': line => {
      const t = asNumber(line.t)
      if (t === null || !Array.isArray(line.figures)) return
      const rows = rowsOf(line.figures.filter(isFigure))
      const text = sayVerdict({ isGood: line.isGood === true, verdict: line.verdict, why: asText(line.why) ?? '', bakeMs: asNumber(line.bakeMs) ?? 0 })
      this.#list.push({ t, title: `Generation ${asNumber(line.generation) ?? '–'}`, text, isBad: line.isGood !== true, rows })
    }
  })

  summary () {
    this.#list.thin()
    return [...this.#list.items]
  }

  get omitted () {
    return this.#list.omitted
  }
}

/** @param {any} given of a journal that may be of another version @returns {given is Figure} */
function isFigure (given) {
  return Object.hasOwn(TITLES, given?.name) && typeof given.unit === 'string' && [given.old, given.fresh].every(value => value === null || typeof value === 'number')
}

/** @param {Comparison[]} comparisons @param {import('..').ReportTools} tools @returns {string[]} */
function linesOf (comparisons, { paint, width, clip, plain }) {
  if (comparisons.length === 0) return []
  return [paint('dim', 'reloads whose code was compared first'), ...comparisons.map(({ title, text, isBad }) => {
    const start = `${title.toLowerCase()}: `
    return paint(isBad ? 'red' : 'green', `${start}${clip(plain(text), width - start.length)}`)
  })]
}

module.exports = { Canaries, linesOf }
