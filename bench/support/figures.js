'use strict'

/** The figures of one subject in one group, as text for the cell of a table. Pure. */

const { besideOf, decimal, latest, ratioOf, roundsOf } = require('./results')
const { summary, within } = require('./statistics')

/** @typedef {(Record<string, any> | null)[]} Rounds */

class Figures {
  #rounds
  #beside

  /** @param {Rounds} rounds @param {Rounds} beside of the subject that ratios are to */
  constructor (rounds, beside) {
    this.#rounds = rounds
    this.#beside = beside
  }

  /** With the spread. @param {string} key */
  ratio (key) {
    return ratioOf(within(this.#rounds, this.#beside, key), ' ×')
  }

  /** The ratio without the spread. @param {string} key */
  briefly (key) {
    return ratioOf({ ...within(this.#rounds, this.#beside, key), count: 1 }, ' ×')
  }

  /** The difference from the other. @param {string} key @param {number} [digits] */
  more (key, digits = 1) {
    return decimal(within(this.#rounds, this.#beside, key, (a, b) => a - b).median, digits)
  }

  /** @param {string} key @param {number} [digits] after the point */
  median (key, digits = 0) {
    return decimal(this.#of(key).median, digits)
  }

  /** @param {string} key @param {number} [digits] */
  range (key, digits = 0) {
    const { min, max } = this.#of(key)
    return [...new Set([decimal(min, digits), decimal(max, digits)])].join('–')
  }

  /** Over the rounds. @param {string} key @param {number} [digits] */
  total (key, digits = 0) {
    return decimal(this.sum(key), digits)
  }

  /** @param {string} key @returns {number} NaN where it was not measured */
  sum (key) {
    const values = this.#rounds.map(figures => figures?.[key]).filter(Number.isFinite)
    return values.length ? values.reduce((sum, value) => sum + value, 0) : NaN
  }

  /** @param {string} key */
  #of (key) {
    return summary(this.#rounds.map(figures => figures?.[key] ?? NaN))
  }
}

/**
 * @param {any[]} files results of one bench
 * @param {{ node?: number, group: string | RegExp, subject: string, beside?: string, cpu?: string }} where `node`:
 *   major version; else the lowest. `beside`: else what the group says. `cpu`: of its machine, a part of the name; else
 *   the latest
 * @returns {Figures} without rounds, where it was not measured
 */
function figuresOf (files, { node, group: name, subject, beside, cpu = '' }) {
  const { groups = [], machine = null, columns = [] } = (node ? files.find(({ machine }) => machine.node.startsWith(`v${node}.`)) : files[0]) ?? {}
  const here = groups.filter((/** @type {any} */ group) => (group.machine ?? machine).cpu.includes(cpu))
  const found = typeof name === 'string' ? name : here.find((/** @type {any} */ group) => name.test(group.name))?.name
  const group = latest(here, found)
  if (!group) return new Figures([], [])
  return new Figures(roundsOf(group.subjects, subject), roundsOf(group.subjects, beside ?? besideOf(group, columns)))
}

module.exports = { Figures, figuresOf }
