'use strict'

const fs = require('node:fs')
const net = require('node:net')
/** @import { Handle } from '../core/internals' */

const SOCKET = 0 // of a handle, what it is: one end of a connection; the same number for TCP and for pipes

/** @typedef {Handle | Descriptor} Unread a connection, or another socket, that this process has and does not read */

/** A connection, or another socket, of which this process has the descriptor alone: nothing here reads it. */
class Descriptor {
  /** @type {true} */
  isDescriptor = true
  #fd
  /** @type {Handle | null} */
  #handle = null

  /** @param {number} fd ours from here on */
  constructor (fd) {
    this.#fd = fd
  }

  /** -1: it is closed. @returns {number} */
  get fd () {
    return this.#handle ? this.#handle.fd : this.#fd
  }

  /**
   * As the getter below, where it is known what it is: net would make a socket to find out, which is most of the cost.
   * @param {new (type: number) => Handle} Handle the class of a TCP or pipe handle
   * @returns {Handle | null} null: it is closed, or not of that kind
   */
  handleOf (Handle) {
    if (this.#handle || this.#fd < 0) return this.#handle
    const handle = new Handle(SOCKET)
    if (handle.open(this.#fd) === 0) return (this.#handle = handle)
    handle.close()
    this.close()
    return null
  }

  /**
   * A handle that Node can read and send, in its place from here on.
   * @returns {Handle | null} a TCP or pipe handle; null: it is neither
   */
  get handle () {
    if (this.#handle === null && this.#fd >= 0) {
      try {
        const socket = new net.Socket({ fd: this.#fd, readable: false, writable: false })
        this.#handle = socket._handle
        socket._handle = null
      } catch {
        this.close()
      }
    }
    return this.#handle
  }

  /** @returns {number} the descriptor, which is the caller's from here on; -1: there is none, or it is a handle's */
  take () {
    const fd = this.#handle ? -1 : this.#fd
    if (fd >= 0) this.#fd = -1
    return fd
  }

  close () {
    if (this.#handle) this.#handle.close()
    else if (this.#fd >= 0) fs.closeSync(this.#fd)
    this.#fd = -1
  }
}

module.exports = { Descriptor }
