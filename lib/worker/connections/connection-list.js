'use strict'

/** @import { Connection } from './connection' */

/**
 * The connections of this worker: a set as a doubly linked list. The table of a `Set` is soon in V8's old space, and
 * the tables that it has outgrown keep deleted connections alive until the next mark-sweep. With a connection per
 * request scavenges then copied 2.4 times as much, which was most of the overhead of running under a supervisor.
 */
class ConnectionList {
  size = 0
  /** @type {Connection | null} */
  #first = null
  /** @type {Connection | null} */
  #last = null
  /** Where the pass is. @type {Connection | null} */
  #next = null

  /** @param {Connection} connection one that is not on it */
  add (connection) {
    connection.before = this.#last
    if (this.#last) this.#last.after = connection
    else this.#first = connection
    this.#last = connection
    this.size++
  }

  /** @param {Connection} connection one that is on it */
  delete (connection) {
    const { before, after } = connection
    if (this.#next === connection) this.#next = after
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    connection.before = connection.after = null
    this.size--
  }

  /**
   * Begins a pass over the list, the oldest first: next() visits each connection once, over as many ticks as it takes.
   */
  rewind () {
    this.#next = this.#first
  }

  /** @returns {Connection | null} the next of the pass; null: it has ended */
  next () {
    const connection = this.#next
    this.#next = connection && connection.after
    return connection
  }

  /** The newest first. */
  * backwards () {
    for (let at = this.#last; at; at = at.before) yield at
  }

  /**
   * The oldest first. The current connection may be deleted meanwhile. As a generator it took twice as long.
   * @returns {Iterator<Connection>}
   */
  [Symbol.iterator] () {
    let next = this.#first
    return {
      next () {
        const value = next
        next = value && value.after
        return value ? { done: false, value } : { done: true, value }
      }
    }
  }
}

module.exports = { ConnectionList }
