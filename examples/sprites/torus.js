'use strict'

/**
 * A torus of nodes: a two-dimensional circular doubly linked list. Each node is in a ring of its row and in a ring of
 * its column.
 *
 * Rows and columns that nodes are only unlinked from fall apart: what is left may share neither row nor column. So the
 * torus keeps one shape. It grows in shells around a square, a column and then a row,
 *
 *     0 1 4 9
 *     2 3 5 10
 *     6 7 8 11 …
 *
 * and a node that leaves is replaced by the latest in this order. That keeps every node reachable and the torus as
 * square as its size allows, and it changes the links of at most MOST_TOUCHED nodes, whatever the size. Every place is
 * found by following links; there is no index.
 */

/**
 * Nodes whose links change by one add() or remove() at the most: the one that moves, its 4 old and its 4 new
 * neighbours.
 */
const MOST_TOUCHED = 9

class Node {
  /** @type {this} */ left = this
  /** @type {this} */ right = this
  /** @type {this} */ up = this
  /** @type {this} */ down = this
}

/** @template {Node} T */
class Torus {
  size = 0
  /** Row 0, column 0. @type {T | null} */
  #origin = null
  /** The latest in the order of growth. @type {T | null} */
  #last = null
  /** @type {Set<T>} */
  #touched = new Set()

  /**
   * @param {T} node in no torus
   * @returns {Set<T>} the nodes of the torus whose links have changed, this one included
   */
  add (node) {
    this.#touched = new Set([node])
    node.left = node.right = node.up = node.down = node
    const last = this.#last
    if (this.#origin === null || last === null) this.#origin = node
    else {
      const { isColumn, index } = place(this.size)
      if (index === 0) this.#insert(node, isColumn ? this.#origin : node, isColumn ? node : this.#origin)
      else if (isColumn) this.#insert(node, last.right.down, last.down)
      else this.#insert(node, last.right, last.down.right)
    }
    this.#last = node
    this.size++
    return this.#touched
  }

  /**
   * @param {T} node of this torus
   * @returns {Set<T>} the nodes of the torus whose links have changed
   */
  remove (node) {
    this.#touched = new Set()
    const last = /** @type {T} */ (this.#last)
    const { isColumn, index } = place(--this.size)
    let previous = isColumn ? last.up : last.left
    this.#join('right', 'left', last.left, last.right)
    this.#join('down', 'up', last.up, last.down)
    const origin = /** @type {T} */ (this.#origin)
    if (index === 0) previous = isColumn ? origin.up.left : origin.left.up // where the shell before ended
    if (node !== last) {
      for (const [there, back] of /** @type {const} */ ([['left', 'right'], ['right', 'left'], ['up', 'down'], ['down', 'up']])) {
        const neighbour = node[there] === node ? last : node[there]
        this.#join(there, back, last, neighbour)
      }
      if (node === origin) this.#origin = last
      if (node === previous) previous = last
    }
    this.#last = this.size === 0 ? null : previous
    if (this.size === 0) this.#origin = null
    this.#touched.delete(node)
    node.left = node.right = node.up = node.down = node
    return this.#touched
  }

  /**
   * At the end of a row and of a column, which is before their first nodes.
   *
   * @param {T} node @param {T} rowFirst @param {T} columnFirst
   */
  #insert (node, rowFirst, columnFirst) {
    this.#join('right', 'left', rowFirst.left, node)
    this.#join('right', 'left', node, rowFirst)
    this.#join('down', 'up', columnFirst.up, node)
    this.#join('down', 'up', node, columnFirst)
  }

  /** @param {Side} there @param {Side} back @param {T} a @param {T} b */
  #join (there, back, a, b) {
    a[there] = b
    b[back] = a
    this.#touched.add(a).add(b)
  }
}

/** @typedef {'left' | 'right' | 'up' | 'down'} Side */

/**
 * Where the node comes that the torus gets at this size: in the column or in the row of its shell, and at which index
 * in it.
 *
 * @param {number} size
 */
function place (size) {
  const side = Math.floor(Math.sqrt(size))
  const inShell = size - side * side
  return inShell < side ? { isColumn: true, index: inShell } : { isColumn: false, index: inShell - side }
}

module.exports = { Torus, Node, MOST_TOUCHED }
