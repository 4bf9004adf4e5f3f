'use strict'

/** In the report: event loops that were blocked, by where, the longest first. */

const { escapeControls } = require('../../core/escape-controls')
const { clip, short } = require('../../core/grid')
const { asCount } = require('../../core/journal-field')
const { placeOf } = require('./sentence')
/** @import { LineHandlers } from '../../lines' */

const MOST_KEPT = 200
const MOST = 20
const LONGEST = 300

/**
 * @typedef {object} Block those of one request at one place
 * @property {string | null} request method and path; null: not known
 * @property {string | null} place the innermost function of the app, its file and line; null: not known
 * @property {number} count @property {number} longestMs
 *
 * @typedef {{ count: number, places: Block[] }} Blocks in all, and by place, the longest first
 */

class BlockedLoops {
  /** @type {Map<string, Block>} */
  #blocks = new Map()
  #count = 0

  /** @type {LineHandlers} */
  handlers = Object.freeze({
    'worker.blocked': ({ request, stack, blockedMs }) => {
      const text = (/** @type {unknown} */ value) => typeof value === 'string' ? value.slice(0, LONGEST) : null
      const place = Array.isArray(stack) ? placeOf(stack.map(frame => String(text(frame)))) : null
      const key = JSON.stringify([text(request), place])
      const block = this.#blocks.get(key) ?? { request: text(request), place, count: 0, longestMs: 0 }
      this.#count++
      block.count++
      block.longestMs = Math.max(block.longestMs, asCount(blockedMs))
      if (this.#blocks.size < MOST_KEPT) this.#blocks.set(key, block)
    }
  })

  /** @returns {Blocks | null} null: there were none */
  summary () {
    const places = [...this.#blocks.values()].sort((a, b) => b.longestMs - a.longestMs).slice(0, MOST)
    return this.#count === 0 ? null : { count: this.#count, places }
  }
}

/**
 * @param {Blocks} summary event loops that were blocked for --stuck-timeout, or as their worker was killed; null: there
 *   were none
 * @param {import('..').Terminal} tools @returns {string[]}
 */
function linesOf ({ places }, { table, width }) {
  const rows = places.map(({ request, place, count, longestMs }) => [
    short(count), `${short(Math.round(longestMs / 100) / 10)} s`, clip(escapeControls(request ?? '–'), 20),
    clip(escapeControls(place ?? 'not known'), Math.max(10, width - 40))
  ])
  return table(['count', 'longest', 'request<', 'event loop blocked at<'], rows, { style: 'yellow' })
}

module.exports = { Figures: BlockedLoops, linesOf }
