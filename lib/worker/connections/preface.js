'use strict'

/**
 * The first bytes of a connection, where the app reads them before http does: the header of the PROXY protocol, which
 * no worker after the first would see. So they go with the connection, to be read again.
 */

const { isProxyHeader } = require('../../core/proxy-protocol')

const MOST_BYTES = 100_000 // until then: a chunk may have the first request, too

/**
 * @param {any} socket that has no parser of http's
 * @param {(preface: Buffer | null) => void} given called when it has, before anything is parsed; null: the app has read
 *   something else before
 */
function awaitParser (socket, given) {
  /** @type {Buffer[]} */
  const chunks = []
  let length = 0
  const { push } = socket
  socket.push = function (/** @type {any} */ chunk, /** @type {any} */ encoding) {
    if (chunk && length <= MOST_BYTES) chunks.push(chunk)
    length += chunk?.length ?? 0
    return push.call(this, chunk, encoding)
  }
  const { parser } = socket
  Object.defineProperty(socket, 'parser', {
    configurable: true,
    enumerable: true,
    get: () => parser,
    set (value) {
      Object.defineProperty(socket, 'parser', { value, configurable: true, enumerable: true, writable: true })
      delete socket.push
      const read = length <= MOST_BYTES ? Buffer.concat(chunks) : null
      const preface = read && read.subarray(0, Math.max(0, read.length - socket.readableLength))
      process.nextTick(given, preface && (preface.length === 0 || isProxyHeader(preface)) ? preface : null)
    }
  })
}

module.exports = { awaitParser }
