'use strict'

/**
 * A series over time in bounded memory: cells of equal width, which doubles, and pairs of cells merge, whenever there
 * are too many of them. A short run keeps every detail; a month keeps its outline.
 *
 * @template Cell
 */
class Timeline {
  /** @type {Map<number, Cell>} */
  #cells = new Map()

  /**
   * @param {object} how
   * @param {number} how.widthMs of a cell at first
   * @param {() => number} how.capacity the most cells, as of now
   * @param {() => Cell} how.empty
   * @param {(into: Cell, other: Cell) => void} how.merge
   */
  constructor ({ widthMs, capacity, empty, merge }) {
    this.widthMs = widthMs
    this.capacity = capacity
    this.empty = empty
    this.merge = merge
  }

  /** The cell that holds this moment. @param {number} t ms since the epoch @returns {Cell} */
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

  /** @returns {{ t: number, cell: Cell }[]} in order; `t` is where the cell begins */
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
