'use strict'

/**
 * The first bytes of a connection, where the app reads them before http does: the header of the PROXY protocol, which
 * no worker after the first would see. So they go with the connection, to be read again.
 */

const { MOST_BYTES, isProxyHeader } = require('../../core/proxy-protocol')

/**
 * @param {import('node:net').Socket} socket that has no parser of http's
 * @param {(preface: Buffer | null) => void} given called when it has, before anything is parsed; null: the app has read
 *   something else before
 */
function awaitParser (socket, given) {
  /** Null: there was more before than a header. @type {Buffer[] | null} */
  let chunks = []
  let length = 0
  const { push } = socket
  socket.push = function (/** @type {Buffer | null} */ chunk, /** @type {BufferEncoding} */ encoding) {
    if (length > MOST_BYTES) {
      chunks = null // a protocol of the app's, perhaps for hours
      Reflect.deleteProperty(socket, 'push')
    } else if (chunk) {
      chunks?.push(chunk) // the last one may have the first request, too
      length += chunk.length
    }
    return push.call(this, chunk, encoding)
  }
  const { parser } = socket
  Object.defineProperty(socket, 'parser', {
    configurable: true,
    enumerable: true,
    get: () => parser,
    set (value) {
      Object.defineProperty(socket, 'parser', { value, configurable: true, enumerable: true, writable: true })
      Reflect.deleteProperty(socket, 'push')
      const read = chunks && Buffer.concat(chunks)
      const preface = read && read.subarray(0, Math.max(0, read.length - socket.readableLength))
      process.nextTick(given, preface && (preface.length === 0 || isProxyHeader(preface)) ? preface : null)
    }
  })
}

module.exports = { awaitParser }
