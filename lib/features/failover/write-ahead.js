'use strict'

/**
 * Tells of the last write of each response just before it, with the bytes that it has: a process that dies between the
 * write and `finish` leaves a connection that is idle, and nothing else could tell it from one whose response was cut.
 */

const http = require('node:http')
const net = require('node:net')

const { byteLength } = Buffer

/** @param {(socket: any, response: any, bytes: number) => void} onLast for all servers of this process */
function watchLastWrites (onLast) {
  const response = /** @type {any} */ (http.ServerResponse.prototype)
  const socket = /** @type {any} */ (net.Socket.prototype)
  const { end } = response
  const { _writeGeneric: write } = socket
  if (typeof write !== 'function') return // that of the next Node.js, perhaps
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
  socket._writeGeneric = function (isMany, data, encoding, callback) {
    if (ending !== null && this._httpMessage === ending) {
      onLast(this, ending, isMany ? sumOf(data) : lengthOf(data, encoding))
    }
    return write.call(this, isMany, data, encoding, callback)
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

module.exports = { watchLastWrites }
