'use strict'

/**
 * A list in bounded memory: the last `limit` items, and beside them up to `limit` older ones that matter.
 * @template Item
 */
class BoundedList {
  /** @type {Item[]} */
  #items = []
  omitted = 0

  /**
   * @param {number} limit @param {(item: Item) => boolean} [matters]
   * @param {() => void} [beforeThinning] called before `matters`
   */
  constructor (limit, matters = () => false, beforeThinning = () => {}) {
    this.limit = limit
    this.matters = matters
    this.beforeThinning = beforeThinning
  }

  /** @param {Item} item */
  push (item) {
    this.#items.push(item)
    if (this.#items.length > 4 * this.limit) this.thin()
  }

  /** @returns {readonly Item[]} oldest first */
  get items () {
    return this.#items
  }

  thin () {
    if (this.#items.length <= this.limit) return
    this.beforeThinning()
    const before = this.#items.length
    const older = this.#items.slice(0, -this.limit).filter(this.matters).slice(-this.limit)
    this.#items = [...older, ...this.#items.slice(-this.limit)]
    this.omitted += before - this.#items.length
  }
}

/**
 * @param {Map<string, number>} counts by reason @param {string} reason of a journal: there may be any
 * @param {{ more?: number, most?: number }} [how] `most`: how many are counted apart; others are one
 */
function countReason (counts, reason, { more = 1, most = 50 } = {}) {
  const name = counts.has(reason) || counts.size < most ? reason : 'other'
  counts.set(name, (counts.get(name) ?? 0) + more)
}

/**
 * Figures of a report that are one list: of each line of an event, what `read` makes of it.
 * @template Item @param {string} event
 * @param {(line: Record<string, unknown>) => Item | null} read null: the line is damaged, or of another version
 * @param {number} [most]
 * @returns {new () => import('../features').Figures & { summary: () => Item[], omitted: number }}
 */
function listOf (event, read, most = 1000) {
  return class {
    /** @type {BoundedList<Item>} */
    #list = new BoundedList(most)

    /** @type {Readonly<Record<string, (line: Record<string, unknown>) => void>>} */
    handlers = Object.freeze({
      [event]: line => {
        const item = read(line)
        if (item !== null) this.#list.push(item)
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
}

module.exports = { BoundedList, countReason, listOf }
