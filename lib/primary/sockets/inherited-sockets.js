'use strict'

/**
 * The listening sockets that this process has been given, by a service manager (socket activation). They are the
 * giver's: it keeps them open when this process ends, and with them their queues. So the fleet accepts from them, and
 * leaves what waits in a queue to its successor.
 */

const fs = require('node:fs')
const net = require('node:net')
const { attempt } = require('../../core/attempt')
const { addressOf, pickInherited } = require('../../core/inherited-socket')
const { unixSockets } = require('../../native/proc')
const { fileAt } = require('./unix-socket-file')
/** @import { UnixSocketFile } from './unix-socket-file' */
/** @import { Handle } from '../../core/internals' */
/** @import { InheritedSocket } from '../../core/inherited-socket' */

const UNIX_SOCKETS = '/proc/self/net/unix'

/**
 * @typedef {InheritedSocket & { handle: Handle, file: UnixSocketFile | null }} Inherited
 *
 * @typedef {object} Passed a descriptor, and its name where it has one
 * @property {number} fd @property {string | null} name
 */

class InheritedSockets {
  /** @type {Inherited[]} */
  #free = []
  /** Sockets that have had a server. @type {Set<Inherited>} */
  #claimed = new Set()
  /** @type {(Passed & { address: string | null, why: string })[]} */
  #unfit = []

  /** @param {readonly Passed[]} passed */
  constructor (passed) {
    for (const one of passed) {
      const socket = open(one)
      if (typeof socket === 'string') this.#unfit.push({ ...one, address: null, why: socket })
      else this.#free.push(socket)
    }
  }

  /** @param {Parameters<typeof pickInherited>[1]} query @returns {Inherited | undefined} what the app asks for */
  take (query) {
    const socket = pickInherited(this.#free, query)
    if (socket === undefined) return undefined
    this.#free.splice(this.#free.indexOf(socket), 1)
    this.#claimed.add(socket)
    return socket
  }

  /** @param {Parameters<typeof pickInherited>[1]} query @returns {boolean} there is one that the app asks for */
  has (query) {
    return pickInherited(this.#free, query) !== undefined
  }

  /**
   * The facts that a successor needs of sockets without a server.
   * @returns {{ socket: InheritedSocket, handle: Handle }[]}
   */
  list () {
    return this.#free.map(
      ({ fd, name, path, address, port, handle }) => ({ socket: { fd, name, path, address, port }, handle })
    )
  }

  /** The socket is open already, in the predecessor. @param {InheritedSocket} socket @param {Handle} handle */
  inherit (socket, handle) {
    this.#free.push({ ...socket, handle, file: fileAt(socket.path) })
  }

  /** The last server of the socket has closed. @param {Inherited} socket */
  giveBack (socket) {
    this.#free.push(socket)
  }

  /** The fleet ends: a unix socket's file stays, and its second name goes. */
  close () {
    for (const { file } of [...this.#free, ...this.#claimed]) file?.leave()
  }

  /** Another primary looks after those without a server. */
  letGo () {
    for (const { file } of this.#free) file?.letGo()
  }

  /**
   * Sockets from which no worker has accepted so far, and why.
   * @returns {(Passed & { address: string | null, why: string })[]}
   */
  get unclaimed () {
    const waiting = this.#free.filter(socket => !this.#claimed.has(socket))
    return [...this.#unfit, ...waiting.map(socket => ({
      fd: socket.fd, name: socket.name, address: addressOf(socket), why: 'the app does not listen there'
    }))]
  }
}

/** @param {Passed} passed @returns {Inherited | string} why it cannot be listened on */
function open ({ fd, name }) {
  // A number: libuv's error
  const handle = attempt(() => /** @type {any} */ (net)._createServerHandle(null, null, null, fd), null)
  if (handle === null || typeof handle !== 'object') return 'it is not a stream socket'
  /** @type {{ address?: string, port?: number }} */
  const bound = {}
  const isTcp = typeof handle.getsockname === 'function'
  if (isTcp && handle.getpeername({}) === 0) return 'it is a connection (Accept=yes in its unit)'
  if (isTcp && handle.getsockname(bound) === 0) {
    return { fd, name, path: null, address: bound.address ?? null, port: bound.port ?? null, handle, file: null }
  }
  const path = pathOf(fd)
  if (path === null) return 'its address is not known'
  return { fd, name, path, address: null, port: null, handle, file: fileAt(path) }
}

/**
 * Node has no getsockname() for a unix socket. The kernel shows `@` for \0; libuv of Node 20 and 22 has filled an
 * abstract name up.
 * @param {number} fd
 */
function pathOf (fd) {
  const inode = String(fs.fstatSync(fd).ino)
  try {
    const { path = null } =
      unixSockets(fs.readFileSync(UNIX_SOCKETS, 'utf8')).find(socket => socket.inode === inode) ?? {}
    return path?.startsWith('@') ? path.replace(/^@/, '\0').replace(/@+$/, '') : path
  } catch {
    return null // no /proc here
  }
}

module.exports = { InheritedSockets }
