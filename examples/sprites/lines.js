'use strict'

/**
 * Messages over a stream: a line of JSON each. What is sent within one turn of the event loop goes out in one write.
 */

/**
 * @param {import('node:net').Socket} socket
 * @param {(message: Record<string, any>) => void} receive
 * @returns {(message: Record<string, any>) => void} sends
 */
function overLines (socket, receive) {
  let partial = ''
  socket.setEncoding('utf8').on('data', (/** @type {any} */ chunk) => {
    const lines = (partial + chunk).split('\n')
    partial = /** @type {string} */ (lines.pop())
    for (const line of lines) receive(JSON.parse(line))
  })
  /** @type {string[]} */
  let waiting = []
  return message => {
    if (waiting.push(JSON.stringify(message)) > 1) return
    setImmediate(() => {
      if (socket.writable) socket.write(waiting.join('\n') + '\n')
      waiting = []
    })
  }
}

module.exports = { overLines }
