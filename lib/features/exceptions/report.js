'use strict'

/**
 * In the report: exceptions that workers have survived, the most frequent first. Of a frequent kind the journal has
 * some lines, each with the count.
 */

const { escapeControls } = require('../../core/escape-controls')
const { clip, short } = require('../../core/grid')
const { asCount } = require('../../core/journal-field')
const { LONGEST } = require('./bounds')
const { Kinds } = require('./kinds')
/** @import { LineHandlers } from '../../lines' */
/** @import { Kind } from './kinds' */

const MOST = 20

class Exceptions {
  #kinds = new Kinds()

  /** @type {LineHandlers} */
  handlers = Object.freeze({
    'worker.exception': line => {
      const text = (/** @type {'name' | 'message' | 'stack' | 'request'} */ field) =>
        typeof line[field] === 'string' ? line[field].slice(0, LONGEST[field]) : ''
      this.#kinds.add({
        name: text('name'), message: text('message'), stack: text('stack'), request: text('request') || null
      }, asCount(line.seen))
    }
  })

  /** @returns {{ count: number, kinds: Kind[] } | null} null: there were none */
  summary () {
    const { count } = this.#kinds
    return count === 0 ? null : { count, kinds: this.#kinds.list(MOST) }
  }
}

/**
 * @param {{ count: number, kinds: Kind[] }} summary exceptions that the app has not caught, and that have not ended its
 *   worker, the most frequent kinds first; null: there were none
 * @param {import('..').Terminal} tools @returns {string[]}
 */
function linesOf ({ kinds }, { table }) {
  const rows = kinds.map(({ name, message, request, count }) =>
    [short(count), clip(escapeControls(request ?? '–'), 20), `${name}: ${message}`])
  return table(['count', 'request<', 'not caught<…'], rows, { style: 'yellow' })
}

module.exports = { Figures: Exceptions, linesOf }
