'use strict'

/**
 * How a listening socket is closed without a reset. Between the last accept and close() a client may connect, and would
 * be reset. So the queue is made as short as the kernel allows and filled with connections of our own: from there on
 * every SYN is dropped, and its repetition, when the socket is closed, is answered with a refusal.
 *
 * An established socket proves nothing, neither ours nor another's: where the queue is full by then, the last ACK of
 * the handshake is dropped without a word (Linux, tcp_v4_syn_recv_sock), and that client would be reset when it sends.
 * Its handshake stays half done on our side; it gets in with its first bytes, or in a second, if the queue is open by
 * then. So the connections in the queue and on the way are counted.
 *
 * Two of our own, since a backlog of 0 makes the kernel log a SYN flood and answer with cookies, which no table shows.
 */

const net = require('node:net')
const fs = require('node:fs')
const { STATE, inetSocket } = require('../../native/proc')
/** @import { Handle } from '../../core/internals' */

const OURS = 2

class CloseWithoutReset {
  /** @type {net.Socket[]} */
  #sockets = []
  /** Where our own have come from. @type {Set<number | undefined>} */
  #ports = new Set()
  /** A connection is on the way. */
  #isAwaited = false

  /**
   * @param {Handle} handle a listening TCP handle; for a path there is no closing, and none is needed
   * @param {number} backlog
   */
  constructor (handle, backlog) {
    /** @type {{ address?: string, port?: number }} */
    const bound = {}
    handle.getsockname?.(bound)
    this.handle = handle
    this.backlog = backlog
    this.port = process.platform === 'linux' ? bound.port : undefined
    this.host = bound.address === '0.0.0.0' ? '127.0.0.1' : bound.address === '::' ? '::1' : bound.address
  }

  /**
   * @returns {Promise<boolean>} until the event loop turns, no other connection is in the queue or on the way into it;
   *   false: it is open, so accept, wait, and ask again
   */
  async isTight () {
    if (this.port === undefined) return true
    this.pull()
    const { fd } = this.handle
    if (this.#isAwaited && isAnyHalfOpen(fd)) return false
    for (let i = 0; i < OURS; i++) {
      this.#sockets.push(net.connect({ host: this.host, port: this.port }).on('error', () => {}))
    }
    // connect() is called in this turn; on loopback the handshake is over when it returns
    await new Promise(process.nextTick)
    for (const { localPort } of this.#sockets) this.#ports.add(localPort)
    this.handle.listen(OURS - 1) // full with one more than that
    const isAlone = (queueLength(fd) ?? OURS) === OURS
    this.#isAwaited = isAlone && isAnyHalfOpen(fd)
    const isTight = isAlone && !this.#isAwaited
    if (!isTight) this.handle.listen(this.backlog)
    return isTight
  }

  /** @param {Handle} client an accepted TCP handle @returns {boolean} it is no client's, but one of ours */
  isOurs (client) {
    /** @type {{ port?: number }} */
    const peer = {}
    return client.getpeername?.(peer) === 0 && this.#ports.has(peer.port)
  }

  pull () {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets = []
  }
}

/** The connections that wait in the kernel at a listening TCP socket, by Linux's /proc/net/tcp. */

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']
const CHUNK = 64 * 1024 // bytes; the kernel gives a page at a time

/**
 * @param {number} fd of the socket
 * @returns {number | null} connections that wait to be accepted; null where the tables cannot be read
 */
function queueLength (fd) {
  const inode = inodeOf(fd)
  for (const table of TABLES) {
    for (const row of rows(table)) {
      if (row.state !== STATE.listen) break // those that listen come first; what follows may be megabytes
      if (row.inode === inode) return row.queued
    }
  }
  return null
}

/** @param {number} fd of the socket @returns {boolean} a handshake has begun there and not ended */
function isAnyHalfOpen (fd) {
  const inode = inodeOf(fd)
  for (const table of TABLES) {
    let port
    for (const row of rows(table)) {
      if (row.inode === inode) port = row.port
      else if (row.state === STATE.synReceived && row.port === port) return true
      else if (row.state !== STATE.listen && !port) break
    }
  }
  return false
}

/** @param {number} fd */
const inodeOf = fd => String(fs.fstatSync(fd).ino)

/** @param {string} table */
function * rows (table) {
  let fd
  try {
    fd = fs.openSync(table, 'r')
    const bytes = Buffer.allocUnsafe(CHUNK)
    let rest = ''
    for (let length; (length = fs.readSync(fd, bytes)) > 0;) {
      const lines = (rest + bytes.toString('latin1', 0, length)).split('\n')
      rest = /** @type {string} */ (lines.pop())
      for (const line of lines) {
        const row = inetSocket(line)
        if (row) yield row
      }
    }
  } catch {
    // no /proc here
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

module.exports = { CloseWithoutReset, isAnyHalfOpen, queueLength }
