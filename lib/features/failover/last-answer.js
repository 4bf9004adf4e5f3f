'use strict'

/** Answers the request of a worker that has died, and closes its connection so that the client can read the answer. */

const net = require('node:net')

/** @type {Record<502 | 500, string>} */
const REASONS = { 502: 'Bad Gateway', 500: 'Internal Server Error' }
const LINGER_MS = 2000 // for a client that sends its request's body first

/**
 * @param {any} handle Node's, of a connection whose request has had no answer
 * @param {keyof typeof REASONS} status 500: the app's code has thrown for it
 */
function answerLast (handle, status) {
  closeGently(handle, `HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/**
 * Closes a connection so that the client can read what was sent to it.
 *
 * @param {any} handle Node's @param {string} [text] to be sent before
 */
function closeGently (handle, text = '') {
  const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle, allowHalfOpen: true }))
  const over = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('error', () => {}).on('close', () => clearTimeout(over)).on('end', () => socket.destroy())
  socket.resume() // a close with something unread would reset it
  socket.end(text, 'latin1')
}

module.exports = { answerLast, closeGently }
