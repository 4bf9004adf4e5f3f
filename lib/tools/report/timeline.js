'use strict'

/**
 * A series over time in bounded memory. Its cells have equal widths. If there are too many, the width doubles and pairs
 * of cells merge: a short run keeps every detail, a month an outline.
 * @template Cell
 */
class Timeline {
  /** @type {Map<number, Cell>} */
  #cells = new Map()

  /**
   * @param {object} how @param {number} how.widthMs initial width of a cell
   * @param {() => number} how.capacity the current limit of cells
   * @param {() => Cell} how.empty @param {(into: Cell, other: Cell) => void} how.merge
   */
  constructor ({ widthMs, capacity, empty, merge }) {
    this.widthMs = widthMs
    this.capacity = capacity
    this.empty = empty
    this.merge = merge
  }

  /** The cell of a time. @param {number} t ms since the epoch @returns {Cell} */
  at (t) {
    const index = Math.floor(t / this.widthMs)
    const found = this.#cells.get(index)
    if (found) return found
    if (this.#cells.size >= this.capacity()) {
      this.#widen()
      return this.at(t)
    }
    const cell = this.empty()
    this.#cells.set(index, cell)
    return cell
  }

  /** @returns {{ t: number, cell: Cell }[]} in order; `t`: the start of the cell */
  list () {
    return [...this.#cells]
      .sort((a, b) => a[0] - b[0])
      .map(([index, cell]) => ({ t: index * this.widthMs, cell }))
  }

  #widen () {
    const cells = this.#cells
    this.widthMs *= 2
    this.#cells = new Map()
    for (const [index, cell] of cells) {
      const half = Math.floor(index / 2)
      const into = this.#cells.get(half)
      if (into) this.merge(into, cell)
      else this.#cells.set(half, cell)
    }
  }
}

module.exports = { Timeline }
