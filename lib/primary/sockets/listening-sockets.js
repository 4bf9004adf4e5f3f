'use strict'

/**
 * The listening sockets of the fleet. The primary opens each on the first worker's request and keeps it, without ever
 * accepting from it: workers come and go, the kernel's queue and the connections in it stay.
 *
 * As cluster does, but for one thing: cluster closes a shared socket with its last worker, and resets what waits in its
 * queue.
 */

const fs = require('node:fs')
const net = require('node:net')
const { constants: { errno: { EMFILE } } } = require('node:os')
const { attempt } = require('../../core/attempt')
const { nameOf, urlOf } = require('../../core/address')
const { addressOf } = require('../../core/inherited-socket')
const { asWorker } = require('./as-worker')
const { allow, bind, boundTo } = require('./bind')
const { InheritedSockets } = require('./inherited-sockets')
const { acceptLast } = require('./last-connections')
const { TicketKeys } = require('./ticket-keys')
const { fileAt } = require('./unix-socket-file')
/** @import { Handle } from '../../core/internals' */
/** @import { Query, ServerData } from '../../tables/message' */
/** @import { Inherited } from './inherited-sockets' */
/** @import { UnixSocketFile } from './unix-socket-file' */

/**
 * @typedef {object} Listener
 * @property {Handle} handle
 * @property {UnixSocketFile | null} file of a unix socket; null: it has none
 * @property {TicketKeys} tickets
 * @property {Set<unknown>} users the workers that listen on it
 * @property {boolean} [isQueued] a worker has listened on it: the kernel has its queue
 * @property {boolean} [isTls] its server has keys for session tickets, as those of TLS have
 * @property {Inherited | null} inherited it has been opened by another process, which keeps it
 */

const MOST_ADDRESSES = 1000 // one worker must not take all descriptors of the primary

/** @type {import('../../journal/events').Recording} */
const nowhere = () => /** @type {any} */ (undefined)

class ListeningSockets {
  /** @type {Map<string, Listener>} */
  #byKey = new Map()
  #isClosing = false

  /**
   * @param {object} [deps] @param {InheritedSockets} [deps.inherited]
   * @param {import('../../journal/events').Recording} [deps.record] by default nowhere
   */
  constructor ({ inherited = new InheritedSockets([]), record = nowhere } = {}) {
    this.inherited = inherited
    this.record = record
  }

  /** Gives a worker what it asks for. @param {import('../workers/worker-handle').WorkerHandle} handle */
  connect (handle) {
    handle.on('address', ({ key, query, data }, answer) => {
      if (this.#isClosing) return // what is being given up is not taken again; a worker that asks now is about to go
      const { errno, handle: socket, data: shared, isQueued } = this.open(key, query, data, handle)
      if (errno) {
        const { fd, port, address } = query
        handle.refused = { address: address ?? (Number(fd) >= 0 ? `descriptor ${fd}` : null), port, errno }
        handle.renounce(key)
      }
      answer({ errno, data: shared, ...isQueued && { isQueued } }, socket)
    })
    handle.on('listens', ({ key }) => {
      const listener = this.#byKey.get(key)
      if (listener) listener.isQueued = true
    })
    handle.on('closes', ({ key }) => { if (handle.state !== 'draining') this.leave(key, handle) })
    handle.on('exit', () => this.forget(handle))
  }

  /**
   * @param {string} key @param {Query} query @param {ServerData | undefined} data
   * @param {{ generation?: number, pid?: number }} user
   * @returns {{ errno: number, handle?: Handle, data?: ServerData, isQueued?: boolean }} `errno`: libuv's, 0 where it
   *   listens; EMFILE: there are 1,000 addresses
   */
  open (key, query, data, user) {
    return asWorker(user, query, () => this.#open(key, query, data, user))
  }

  /**
   * @param {string} key @param {Query} query @param {ServerData | undefined} data @param {{ generation?: number }} user
   */
  #open (key, query, data, user) {
    // The workers that accept from it have descriptors of their own
    if (this.#byKey.get(key)?.file?.isLost) this.#close(key)
    if (!this.#byKey.has(key) && this.#byKey.size >= MOST_ADDRESSES) return { errno: -EMFILE }
    const listener = this.#byKey.get(key) ?? this.#inherit(query) ?? bind(query)
    if (typeof listener === 'number') return { errno: listener }
    this.#add(key, listener)
    listener.file?.restore()
    listener.users.add(user)
    listener.isTls ||= data !== undefined
    const errno = allow(listener.handle, query)
    if (errno) {
      this.leave(key, user)
      return { errno }
    }
    return {
      errno: 0,
      handle: listener.handle,
      data: data && listener.tickets.share(data, user?.generation),
      isQueued: listener.isQueued
    }
  }

  /** @param {string} key @param {Listener} listener */
  #add (key, listener) {
    if (this.#byKey.get(key) !== listener) {
      listener.file?.report(why =>
        this.record('fleet.warning', { warning: 'unix-socket', file: listener.file?.file, why }))
    }
    this.#byKey.set(key, listener)
  }

  /** @param {Query} query @returns {Listener | undefined} */
  #inherit (query) {
    const inherited = this.inherited.take(query)
    if (inherited === undefined) return undefined
    const { fd, name, handle, file } = inherited
    this.record('fleet.socket', { fd, fdName: name, address: addressOf(inherited) })
    return { handle, file, tickets: new TicketKeys(), users: new Set(), inherited }
  }

  /** Names what this process was given, and the app does not listen on. */
  warnOfUnused () {
    for (const { fd, name, address, why } of this.inherited.unclaimed) {
      this.record('fleet.warning', { warning: 'unused-socket', fd, fdName: name, address, why })
    }
  }

  /**
   * The app has closed this server of its own accord; when every worker's has, the address is given up.
   * @param {string} key @param {unknown} user
   */
  leave (key, user) {
    if (this.#isClosing) return // closeAll() is at it
    const listener = this.#byKey.get(key)
    if (listener?.users.delete(user) && listener.users.size === 0) this.#close(key)
  }

  /** The workers listen there no longer: a client is refused from here on. @param {string} key */
  giveUp (key) {
    if (this.#isClosing || !this.#byKey.has(key)) return
    this.#close(key)
    this.record('fleet.address-closed', { address: nameOf(key) })
  }

  /** @param {unknown} user a worker that is gone; its addresses stay open for its successor */
  forget (user) {
    for (const { users } of this.#byKey.values()) users.delete(user)
  }

  /**
   * Gives every address up, at the end of the fleet. The kernel resets what is still in a queue when its socket closes,
   * so the primary, whose loop is idle, accepts the last ones itself and closes each socket when its queue is empty.
   * They are handed over only then: every answer would bring the next connection from a client that opens one a
   * request. The queue of a socket that has been inherited stays, and what waits there is for the fleet that inherits
   * it next.
   * @param {Promise<unknown>} shut resolves when no worker accepts any more
   * @returns {Promise<{ key: string, client: Handle }[]>} the connections that were accepted, as handles that have not
   *   been read
   */
  async closeAll (shut) {
    this.#isClosing = true
    for (const [key, { inherited }] of this.#byKey) if (inherited) this.#close(key)
    this.inherited.close()
    const sockets = [...this.#byKey].map(([key, { handle, file }]) => ({ key, handle, file }))
    return acceptLast(sockets, shut, key => this.#close(key))
  }

  /** Where clients reach the fleet, for people. @returns {string[]} URLs, and paths of unix sockets */
  urls () {
    return [...new Set([...this.#byKey].map(([key, { handle, isTls = false }]) =>
      urlOf(boundTo(handle), isTls) ?? nameOf(key)))]
  }

  /**
   * The facts that a successor needs of each.
   * @returns {{ key: string, handle: Handle, file: string | null, data: ServerData | undefined, kept?: object }[]}
   */
  list () {
    return [...this.#byKey].map(([key, { handle, file, tickets, inherited }]) => {
      const { fd, name, path, address, port } = inherited ?? {}
      return {
        key,
        handle,
        file: file && file.file,
        data: tickets.latest,
        ...(inherited && { kept: { fd, name, path, address, port } })
      }
    })
  }

  /**
   * The socket is open already, in the predecessor.
   * @param {{ key: string, file: string | null, data?: ServerData, kept?: Omit<Inherited, 'handle' | 'file'> }} socket
   * @param {Handle} handle
   */
  inherit ({ key, file: name, data, kept }, handle) {
    const file = fileAt(name)
    this.#add(key, {
      handle, tickets: new TicketKeys(data), file, users: new Set(), inherited: kept ? { ...kept, handle, file } : null
    })
  }

  /**
   * The socket is open already, in a worker that is adopted.
   * @param {{ key: string, query: Query, data?: ServerData }} socket
   * @param {number} fd of it, which is ours from here on
   */
  adopt ({ key, query, data }, fd) {
    const handle = this.#byKey.has(key) || this.inherited.has(query) ? null : handleOf(fd)
    if (handle === null) return fs.closeSync(fd)
    this.inherit({ key, file: Number(query.port) < 0 ? query.address : null, data }, handle)
    const listener = this.#byKey.get(key)
    if (listener) listener.isQueued = true
  }

  /** No worker listens on these any more, now that the predecessor's are gone. */
  closeUnused () {
    for (const [key, { users }] of this.#byKey) if (users.size === 0) this.giveUp(key)
  }

  /** Another primary has them: here they are closed, and what waits in their queues stays. */
  letGo () {
    this.#isClosing = true
    this.inherited.letGo()
    for (const { handle, file } of this.#byKey.values()) {
      file?.letGo()
      if (file) handle.unref() // close() would delete the file, by its path
      else handle.close()
    }
    this.#byKey.clear()
  }

  /** @param {string} key */
  #close (key) {
    const socket = this.#byKey.get(key)
    if (socket?.inherited) this.inherited.giveBack(socket.inherited)
    else if (socket?.file) socket.file.close(socket.handle)
    else socket?.handle.close()
    this.#byKey.delete(key)
  }
}

/** @param {number} fd @returns {Handle | null} null: it is no listening socket */
function handleOf (fd) {
  const handle = attempt(() => net._createServerHandle(null, null, null, fd), null)
  return typeof handle === 'object' ? handle : null
}

module.exports = { ListeningSockets }
