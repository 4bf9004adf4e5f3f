'use strict'

/**
 * In the report: exceptions that workers have survived, the most frequent first. Of a frequent kind the journal has
 * some lines, each with the count.
 */

const { asCount } = require('../../core/journal-field')
const { LONGEST } = require('./bounds')
const { Kinds } = require('./kinds')
/** @import { Kind } from './kinds' */

const MOST = 20

class Exceptions {
  #kinds = new Kinds()

  /** @type {Readonly<Record<string, (line: Record<string, any>) => void>>} */
  handlers = Object.freeze({
    'worker.exception': line => {
      const text = (/** @type {'name' | 'message' | 'stack' | 'request'} */ field) => typeof line[field] === 'string' ? line[field].slice(0, LONGEST[field]) : ''
      this.#kinds.add({ name: text('name'), message: text('message'), stack: text('stack'), request: text('request') || null }, asCount(line.seen))
    }
  })

  /** @returns {{ count: number, kinds: Kind[] } | null} null: there were none */
  summary () {
    const { count } = this.#kinds
    return count === 0 ? null : { count, kinds: this.#kinds.list(MOST) }
  }
}

/** @param {{ count: number, kinds: Kind[] }} summary @param {import('..').ReportTools} tools @returns {string[]} */
function linesOf ({ kinds }, { paint, width, layOut, short, clip, escapeControls }) {
  const rows = kinds.map(({ name, message, request, count }) => [short(count), clip(escapeControls(request ?? '–'), 20), escapeControls(`${name}: ${message}`)])
  const left = width - 6 - Math.max('request'.length, ...rows.map(([, request]) => request.length)) - Math.max('count'.length, ...rows.map(([count]) => count.length))
  const [heading, ...lines] = layOut([{ title: 'count' }, { title: 'request', left: true }, { title: 'not caught', left: true }], rows.map(([count, request, what]) => [count, request, clip(what, left)]), width)
  return [paint('dim', heading), ...lines.map(line => paint('yellow', line))]
}

/** @param {typeof import('../../core/json-schema')} kinds */
function schema ({ closed, listOf, orNull, ordinal, text }) {
  return orNull(closed({
    count: ordinal('all of them'),
    kinds: listOf(closed({
      name: text(),
      message: text('of the first one'),
      request: orNull(text(), 'method and path of the request whose code threw the first one; null: it is not known'),
      count: ordinal()
    }), 'those of one name and place are one; the most frequent first', 20)
  }), 'exceptions that the app has not caught, and that have not ended its worker; null: there were none')
}

module.exports = { Exceptions, schema, linesOf }
