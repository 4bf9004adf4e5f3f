'use strict'

/**
 * Exceptions by kind: those of the same name that were thrown at the same place are one.
 *
 * @typedef {{ name: string, message: string, stack: string, request: string | null }} Thrown
 * @typedef {{ name: string, message: string, request: string | null, count: number }} Kind the message and request of its first
 */

const MOST_KINDS = 200
const FRAMES = 3 // of the stack

class Kinds {
  /** @type {Map<string, Kind>} */
  #kinds = new Map()

  /** All of them. */
  get count () {
    return [...this.#kinds.values()].reduce((sum, { count }) => sum + count, 0)
  }

  /** @param {Thrown} thrown @param {number} [seen] so many of its kind, at least, with this one @returns {Kind} its kind, as counted so far; those beyond the 200th are new each time */
  add ({ name, message, stack, request }, seen = 0) {
    const key = [name, ...stack.split('\n').filter(line => /^\s+at /.test(line)).slice(0, FRAMES)].join('\n')
    const kind = this.#kinds.get(key) ?? { name, message, request, count: 0 }
    if (this.#kinds.size < MOST_KINDS) this.#kinds.set(key, kind)
    kind.count = Math.max(kind.count + 1, seen)
    return kind
  }

  /** @param {number} most @returns {Kind[]} the most frequent ones */
  list (most) {
    return [...this.#kinds.values()].sort((a, b) => b.count - a.count).slice(0, most).map(kind => ({ ...kind }))
  }
}

module.exports = { Kinds }
