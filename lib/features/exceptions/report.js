'use strict'

/** In the report: exceptions that workers have survived, the most frequent first. Of a frequent kind the journal has some lines, each with the count. */

const { asCount } = require('../../report/journal-field')
const { Kinds } = require('./kinds')

const MOST = 20
const LONGEST = 2000

class Exceptions {
  #kinds = new Kinds()

  /** @type {Readonly<Record<string, (line: Record<string, any>) => void>>} */
  handlers = Object.freeze({
    'worker.exception': line => {
      const text = (/** @type {unknown} */ value) => typeof value === 'string' ? value.slice(0, LONGEST) : ''
      this.#kinds.add({ name: text(line.name), message: text(line.message), stack: text(line.stack), request: text(line.request) || null }, asCount(line.seen))
    }
  })

  /** @returns {{ count: number, kinds: import('./kinds').Kind[] } | null} null: there were none */
  summary () {
    const { count } = this.#kinds
    return count === 0 ? null : { count, kinds: this.#kinds.list(MOST) }
  }
}

/** @param {{ count: number, kinds: import('./kinds').Kind[] }} summary @param {import('..').ReportTools} tools @returns {string[]} */
function linesOf ({ kinds }, { paint, width, layOut, short, clip, plain }) {
  const rows = kinds.map(({ name, message, request, count }) => [short(count), clip(plain(request ?? '–'), 20), plain(`${name}: ${message}`)])
  const left = width - 6 - Math.max('request'.length, ...rows.map(([, request]) => request.length)) - Math.max('count'.length, ...rows.map(([count]) => count.length))
  const [heading, ...lines] = layOut([{ title: 'count' }, { title: 'request', left: true }, { title: 'not caught', left: true }], rows.map(([count, request, what]) => [count, request, clip(what, left)]), width)
  return [paint('dim', heading), ...lines.map(line => paint('yellow', line))]
}

module.exports = { Exceptions, linesOf }
