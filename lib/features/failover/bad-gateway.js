'use strict'

/** Answers the request of a worker that has died, and closes its connection so that the client can read the answer. */

const net = require('node:net')

const ANSWER = 'HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
const LINGER_MS = 2000 // for a client that sends its request's body first

/** @param {any} handle Node's, of a connection whose request has had no answer */
function answerBadGateway (handle) {
  const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle, allowHalfOpen: true }))
  const over = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('error', () => {}).on('close', () => clearTimeout(over)).on('end', () => socket.destroy())
  socket.resume() // a close with something unread would reset it
  socket.end(ANSWER)
}

module.exports = { answerBadGateway }
