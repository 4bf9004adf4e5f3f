'use strict'

/**
 * Tells of the last write of each response just before it, with the bytes that it has: a process that dies between the
 * write and `finish` leaves a connection that is idle, and nothing else could tell it from one whose response was cut.
 */

const http = require('node:http')
const net = require('node:net')

const { byteLength } = Buffer

/**
 * Of the sockets alone that are watched: a write of any other in this process costs nothing.
 *
 * @param {(socket: any, response: any, bytes: number) => void} onLast
 * @returns {{ watch: (socket: any) => void, forget: (socket: any) => void }}
 */
function lastWrites (onLast) {
  const response = /** @type {any} */ (http.ServerResponse.prototype)
  const { _writeGeneric: write } = /** @type {any} */ (net.Socket.prototype)
  if (typeof write !== 'function') return { watch () {}, forget () {} } // that of the next Node.js, perhaps
  const { end } = response
  /** The response whose end() is running: most are written within. @type {any} */
  let ending = null
  response.end = /** @this {any} */ function (
    /** @type {any} */ chunk, /** @type {any} */ encoding, /** @type {any} */ callback
  ) {
    const before = ending
    ending = this
    try {
      return end.call(this, chunk, encoding, callback)
    } finally {
      ending = before
    }
  }
  /** @this {any} @param {boolean} isMany @param {any} data @param {any} encoding @param {any} callback */
  function writeWatched (isMany, data, encoding, callback) {
    if (ending !== null && this._httpMessage === ending) {
      onLast(this, ending, isMany ? sumOf(data) : lengthOf(data, encoding))
    }
    return write.call(this, isMany, data, encoding, callback)
  }
  return {
    watch (socket) { if (socket._writeGeneric === write) socket._writeGeneric = writeWatched },
    forget (socket) { if (socket._writeGeneric === writeWatched) socket._writeGeneric = write }
  }
}

/** @param {any} chunks of writev: buffers, if `allBuffers`, or objects with a chunk and its encoding */
function sumOf (chunks) {
  let sum = 0
  for (let i = 0; i < chunks.length; i++) {
    const { chunk = chunks[i], encoding } = chunks[i]
    sum += lengthOf(chunk, encoding)
  }
  return sum
}

/** @param {any} chunk @param {any} encoding */
function lengthOf (chunk, encoding) {
  return encoding === 'latin1' && typeof chunk === 'string' ? chunk.length : byteLength(chunk, encoding)
}

module.exports = { lastWrites }
