'use strict'

/**
 * Tells of the last write of each response just before it, with the bytes that it has: a process that dies between the
 * write and `finish` leaves a connection that is idle, and nothing else could tell it from one whose response was cut.
 */

const http = require('node:http')
const net = require('node:net')
/** @import { ServerResponse } from 'node:http' */
/** @import { Socket } from 'node:net' */

const { byteLength } = Buffer

/** The methods as of the first time, which may be the app's own. @type {ServerResponse['end']} */
let end
/** @type {Socket['_writeGeneric']} */
let write

/** The response whose end() is running: most are written within. @type {ServerResponse | null} */
let ending = null
/** @type {((socket: Socket, response: ServerResponse, bytes: number) => void) | null} */
let tell = null

/** @this {ServerResponse} @param {unknown} chunk @param {BufferEncoding} encoding @param {() => void} callback */
function endTelling (chunk, encoding, callback) {
  const before = ending
  ending = this
  try {
    return end.call(this, chunk, encoding, callback)
  } finally {
    ending = before
  }
}

/** @this {Socket} @param {boolean} isMany @param {any} data @param {unknown} encoding @param {unknown} callback */
function writeTelling (isMany, data, encoding, callback) {
  if (ending !== null && this._httpMessage === ending) {
    tell?.(this, ending, isMany ? sumOf(data) : lengthOf(data, encoding))
  }
  return write.call(this, isMany, data, encoding, callback)
}

/** @param {(socket: Socket, response: ServerResponse, bytes: number) => void} onLast in place of a primary's before */
function tellLastWrites (onLast) {
  if (tell === null) {
    ({ end } = http.ServerResponse.prototype);
    ({ _writeGeneric: write } = net.Socket.prototype)
    http.ServerResponse.prototype.end = /** @type {any} */ (endTelling)
  }
  tell = onLast
}

/** A write of any other socket in this process costs nothing. @param {Socket} socket */
function watchWrites (socket) {
  if (typeof write === 'function' && socket._writeGeneric === write) socket._writeGeneric = writeTelling
}

/** @param {Socket} socket */
function forgetWrites (socket) {
  if (socket._writeGeneric === writeTelling) socket._writeGeneric = write
}

/** @param {any[]} chunks of writev: buffers, if `allBuffers`, or objects with a chunk and its encoding */
function sumOf (chunks) {
  let sum = 0
  for (let i = 0; i < chunks.length; i++) {
    const { chunk = chunks[i], encoding } = chunks[i]
    sum += lengthOf(chunk, encoding)
  }
  return sum
}

/** @param {string | Buffer} chunk @param {any} encoding */
function lengthOf (chunk, encoding) {
  return encoding === 'latin1' && typeof chunk === 'string' ? chunk.length : byteLength(chunk, encoding)
}

module.exports = { tellLastWrites, watchWrites, forgetWrites }
