'use strict'

/** @import { Handle } from '../../core/internals' */

/** In place of the socket of a connection that waits, unread, as far as that is asked for. */
class Waiting {
  destroyed = false
  /** The client has closed it. */
  readableEnded = false

  /** @param {Handle} handle */
  constructor (handle) {
    /** @type {Handle | null} */
    this._handle = handle
  }

  get remotePort () {
    const peer = /** @type {{ port?: number }} */ ({})
    this._handle?.getpeername?.(peer)
    return peer.port
  }

  destroy () {
    this.destroyed = true
    this._handle?.close()
    this._handle = null
  }
}

Object.assign(Waiting.prototype, { readableLength: 0, writableLength: 0, bytesRead: 0, bytesWritten: 0 })

module.exports = { Waiting }
