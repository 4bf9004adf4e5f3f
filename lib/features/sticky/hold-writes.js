'use strict'

/** @import { Socket } from 'node:net' */

/** How many hold the writes of a socket back. @type {WeakMap<Socket, number>} */
const holds = new WeakMap()

/**
 * Holds back what is written to a socket from here on. A cork alone would not do: a response that ends takes all corks
 * off its socket (OutgoingMessage.end).
 * @param {Socket} socket @returns {() => void} lets it go, unless another call holds it too
 */
function holdWrites (socket) {
  if (!holds.has(socket)) {
    socket.cork()
    socket.uncork = () => {}
  }
  count(socket, 1)
  let isHolding = true
  return () => {
    if (!isHolding) return
    isHolding = false
    if (count(socket, -1) > 0) return
    holds.delete(socket)
    Reflect.deleteProperty(socket, 'uncork')
    while (socket.writableCorked > 0) socket.uncork()
  }
}

/** @param {Socket} socket @param {1 | -1} change */
function count (socket, change) {
  const held = (holds.get(socket) ?? 0) + change
  holds.set(socket, held)
  return held
}

module.exports = { holdWrites }
