'use strict'

/** Workers over time beside the load, of a fleet with `--workers <min>..<max>`. */

const { countReason } = require('../../core/bounded-list')
const { addUp } = require('../../core/fields')
const { escapeControls } = require('../../core/escape-controls')
const { clip, orDash, wrap } = require('../../core/grid')
const { count, formatTime } = require('../../core/units')
const { asCount, asNumber, asObject, asText } = require('../../core/journal-field')
const { Timeline } = require('../../tools/report/timeline')
const { HIGH } = require('./decide')

const WIDTH_MS = 1000
const MOST_CELLS = 2000
const MOST_REASONS = 20
const LONGEST_LOOK_MS = 3000 // between two lines; after a longer pause nothing is known of it

/**
 * @typedef {object} Sizes
 * @property {number | null} min @property {number | null} max @property {Count} fewest @property {Count} most
 * @property {Count} mean
 * @property {Record<string, Count>} changes of the intended number of workers, by reason
 * @property {Count} overTargetMs time in which the workers in service were busy for more than 0.8 of it
 */
/** @import { Count } from '../../core/journal-field' */
/** @import { LineHandlers, ReadLine } from '../../lines' */
/** @typedef {{ looks: number, wanted: number, ready: number, busy: number }} Cell sums */

class Scaling {
  /** @type {{ min: number | null, max: number | null }} */
  #bounds = { min: null, max: null }
  /** By reason. @type {Map<string, number>} */
  #changes = new Map()
  #looks = 0
  #workers = 0
  #fewest = Infinity
  #most = 0
  #overTargetMs = 0
  /** @type {number | null} */
  #lookedAt = null
  /** @type {Timeline<Cell>} */
  #timeline = new Timeline({
    widthMs: WIDTH_MS,
    capacity: () => MOST_CELLS,
    empty: () => ({ looks: 0, wanted: 0, ready: 0, busy: 0 }),
    merge: addUp
  })

  /** @type {LineHandlers} */
  handlers = Object.freeze({
    'fleet.start': ({ options }) => {
      const { min, max } = asObject(asObject(options).autoscale)
      this.#bounds = { min: asNumber(min), max: asNumber(max) }
    },
    'fleet.scale': line => countReason(this.#changes, asText(line.reason) ?? 'requested', { most: MOST_REASONS }),
    'fleet.load': line => this.#look(line)
  })

  /** @returns {Sizes | null} */
  summary () {
    if (this.#looks === 0) return null
    return {
      ...this.#bounds,
      fewest: this.#fewest,
      most: this.#most,
      mean: Math.round(10 * this.#workers / this.#looks) / 10,
      changes: Object.fromEntries(this.#changes),
      overTargetMs: this.#overTargetMs
    }
  }

  /**
   * @returns {{ t: number, wanted: number, ready: number, busy: number }[]} means; t in ms since the epoch
   */
  series () {
    return this.#timeline.list().map(({ t, cell: { looks, wanted, ready, busy } }) =>
      ({ t, wanted: wanted / looks, ready: ready / looks, busy: busy / looks }))
  }

  /** @param {ReadLine<'fleet.load'>} line */
  #look (line) {
    const t = asNumber(line.t)
    if (t === null) return
    const [workers, serving, busy] = [line.workers, line.serving, line.busy].map(asCount)
    this.#looks++
    this.#workers += workers
    this.#fewest = Math.min(this.#fewest, workers)
    this.#most = Math.max(this.#most, workers)
    const tookMs = t - (this.#lookedAt ?? t)
    this.#lookedAt = t
    if (busy > HIGH * serving && tookMs > 0 && tookMs <= LONGEST_LOOK_MS) this.#overTargetMs += tookMs
    addUp(this.#timeline.at(t), { looks: 1, wanted: workers, ready: serving, busy })
  }
}

/**
 * @param {Sizes} summary how many workers there were; null: the fleet ran without --workers <min>..<max>
 * @param {import('..').Terminal} tools @returns {string[]}
 */
function linesOf ({ min, max, fewest, most, mean, changes, overTargetMs }, { paint }) {
  const reasons = Object.entries(changes).map(([reason, count]) => `${count} ${clip(escapeControls(reason), 12)}`)
    .join(', ')
  return wrap(`${fewest} to ${count(most, 'worker')} of ${orDash(min)}..${orDash(max)}, ${mean} on average; ` +
    `changes: ${reasons || 'none'}; busy for more than ${HIGH} of the time: ${formatTime(overTargetMs)}`)
    .map(line => paint('dim', line))
}

module.exports = { Figures: Scaling, linesOf }
