'use strict'

/**
 * A server that closes a connection while bytes of it are unread resets it, and the client may lose the response that
 * it has been sent (RFC 9112, 9.6). So where a close notice has Node close behind a response whose request has not been
 * read to its end, the response is followed by a FIN, and what the client still sends is read, as in nginx
 * (`lingering_close`): until the request is whole, the client closes, or nothing has come for a while.
 */

const { clearInterval, setInterval } = require('node:timers')
/** @import { Socket } from 'node:net' */

const SILENT_MS = 5000 // nginx: lingering_timeout. The drain deadline bounds the whole

/**
 * To be called before the response has ended.
 * @param {Socket} socket the topmost of the connection, which Node closes by `destroySoon()`
 * @param {import('node:http').IncomingMessage} request the one that is answered
 */
function closeLingering (socket, request) {
  socket.destroySoon = () => {
    closeAtOnce(socket)
    if (request.complete || socket.destroyed) return socket.destroySoon()
    socket.end()
    let { bytesRead } = socket
    const timer = setInterval(() => {
      if (socket.bytesRead === bytesRead) socket.destroy()
      bytesRead = socket.bytesRead
    }, SILENT_MS)
    socket.once('close', () => clearInterval(timer))
    request.once('end', () => socket.destroySoon())
  }
}

/** Takes it back. @param {Partial<Pick<Socket, 'destroySoon'>>} socket */
function closeAtOnce (socket) {
  delete socket.destroySoon
}

module.exports = { closeLingering, closeAtOnce }
