'use strict'

/**
 * Exceptions by kind: those of the same name that were thrown at the same place are one. An app can throw without end
 * what was never thrown before: those beyond the first 200 kinds are one, `others`.
 *
 * @typedef {{ name: string, message: string, stack: string, request: string | null }} Thrown
 * @typedef {{ name: string, message: string, request: string | null, count: number }} Kind those of one name and place;
 *   message and request (method and path, null: not known) of its first
 */

const MOST_KINDS = 200
const FRAMES = 3 // of the stack
const OTHERS = 'others'

class Kinds {
  /** @type {Map<string, Kind>} */
  #kinds = new Map()
  /** @type {Kind} */
  #others = { name: OTHERS, message: `beyond ${MOST_KINDS} kinds`, request: null, count: 0 }

  /** All of them. */
  get count () {
    return this.#all.reduce((sum, { count }) => sum + count, 0)
  }

  get #all () {
    return [...this.#kinds.values(), this.#others]
  }

  /**
   * @param {Thrown} thrown @param {number} [seen] so many of its kind, at least, with this one
   * @returns {Kind} its kind, as counted so far
   */
  add (thrown, seen = 0) {
    const kind = this.#kindOf(thrown)
    kind.count = Math.max(kind.count + 1, seen)
    return kind
  }

  /** @param {Thrown} thrown @returns {Kind} */
  #kindOf ({ name, message, stack, request }) {
    const key = [name, ...stack.split('\n').filter(line => /^\s+at /.test(line)).slice(0, FRAMES)].join('\n')
    const known = this.#kinds.get(key)
    if (known) return known
    if (this.#kinds.size >= MOST_KINDS || name === OTHERS) return this.#others
    const kind = { name, message, request, count: 0 }
    this.#kinds.set(key, kind)
    return kind
  }

  /** @param {number} most @returns {Kind[]} the most frequent ones */
  list (most) {
    return this.#all.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count).slice(0, most)
      .map(kind => ({ ...kind }))
  }
}

module.exports = { Kinds }
