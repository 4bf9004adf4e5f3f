'use strict'

/**
 * Holds back what is written to a socket from here on. A cork alone would not do: a response that ends takes all corks off its
 * socket (OutgoingMessage.end).
 *
 * @param {import('node:net').Socket} socket
 * @returns {() => void} lets it go
 */
function holdWrites (socket) {
  socket.cork()
  socket.uncork = () => {}
  return () => {
    delete (/** @type {any} */ (socket)).uncork
    while (socket.writableCorked > 0) socket.uncork()
  }
}

module.exports = { holdWrites }
