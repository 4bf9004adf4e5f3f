'use strict'

/**
 * The listening sockets of the fleet. The primary opens each on the first worker's request and keeps it, without ever
 * accepting from it: workers come and go, the kernel's queue and whoever waits in it stay.
 *
 * As cluster does, but for one thing: cluster closes a shared socket with its last worker, and resets who is waiting.
 */

const net = require('node:net')
const path = require('node:path')
const { setImmediate, setTimeout } = require('node:timers/promises')
const { now } = require('./clock')
const { Plug } = require('./plug')
const { SocketFile } = require('./socket-file')

/**
 * @typedef {object} Listener
 * @property {any} handle
 * @property {SocketFile | null} file of a unix socket; null: it has none
 * @property {unknown} data what the first server shares with its likes (TLS ticket keys)
 * @property {Set<unknown>} users the workers that listen on it
 */

const BACKLOG = 4096
const QUIET_MS = 10
const EMPTYING_MS = 250
const PLUGGING_MS = 1500 // a handshake whose last ACK the kernel has dropped is taken up again after a second

class Listeners {
  /** @type {Map<string, Listener>} */
  #byKey = new Map()
  #isClosing = false

  /** Gives a worker what it asks for. @param {import('./handle').Handle} handle */
  connect (handle) {
    handle.on('listen', ({ id, key, query, data }) => {
      if (this.#isClosing) return // what is being given up is not taken again; who asks now is about to go
      const { errno, handle: socket, data: shared } = this.open(key, query, data, handle)
      if (errno) handle.renounce(key)
      handle.send('listener', { id, errno, data: shared }, socket)
    })
    handle.on('unlisten', ({ key }) => { if (handle.state !== 'draining') this.leave(key, handle) })
    handle.on('exit', () => this.forget(handle))
  }

  /**
   * @param {string} key
   * @param {{ address: string | null, port: number, addressType: number, fd?: number, flags?: number }} query net's
   * @param {unknown} data
   * @param {unknown} user
   * @returns {{ errno: number, handle?: any, data?: unknown }} `errno` is libuv's, 0 where it listens
   */
  open (key, query, data, user) {
    let listener = this.#byKey.get(key)
    if (!listener) {
      const isFile = query.port < 0 && query.address !== null && !query.address.startsWith('\0') // \0: abstract
      const address = isFile && query.address ? shortest(query.address) : query.address
      const handle = /** @type {any} */ (net)._createServerHandle(address, query.port, query.addressType, query.fd, query.flags)
      if (typeof handle === 'number') return { errno: handle }
      listener = { handle, data, file: isFile ? new SocketFile(String(address)) : null, users: new Set() }
      this.#byKey.set(key, listener)
    }
    listener.file?.restore()
    listener.users.add(user)
    return { errno: 0, handle: listener.handle, data: listener.data }
  }

  /** The app has closed this server of its own accord; when every worker's has, the address is given up. @param {string} key @param {unknown} user */
  leave (key, user) {
    if (this.#isClosing) return // closeAll() is at it
    const listener = this.#byKey.get(key)
    listener?.users.delete(user)
    if (listener?.users.size === 0) this.#close(key)
  }

  /** @param {unknown} user a worker that is gone; its addresses stay open for its successor */
  forget (user) {
    for (const { users } of this.#byKey.values()) users.delete(user)
  }

  /**
   * Gives every address up, at the end of the fleet. The kernel resets whoever is still in a queue when its socket closes,
   * so the primary, whose loop is idle, accepts the last ones itself and closes each socket when its queue is empty.
   * They are handed over only then: every answer would bring the next connection from a client that opens one a request.
   *
   * @param {Promise<unknown>} shut resolves when no worker accepts any more
   * @returns {Promise<{ key: string, client: any }[]>} who got in, as handles that have not been read
   */
  async closeAll (shut) {
    this.#isClosing = true
    /** @type {{ key: string, client: any }[]} */
    const last = []
    let accepted = 0
    const plugged = [...this.#byKey].map(([key, { handle, file }]) => {
      const plug = new Plug(handle, BACKLOG)
      handle.onconnection = (/** @type {number} */ error, /** @type {any} */ client) => {
        accepted++
        if (error) return
        if (plug.isOurs(client)) client.close()
        else last.push({ key, client })
      }
      handle.listen(BACKLOG)
      return { key, plug, file }
    })
    await shut
    const until = now() + EMPTYING_MS
    let before
    do {
      before = accepted
      await setTimeout(QUIET_MS)
      await emptied(() => accepted)
    } while (accepted !== before && now() < until)
    for (const { key, plug, file } of plugged) {
      file?.remove() // who comes from here on finds nothing there
      await emptied(() => accepted)
      while (!await plug.isTight() && now() < until + PLUGGING_MS) {
        await setTimeout(QUIET_MS)
        await emptied(() => accepted)
      }
      this.#close(key)
      plug.pull()
    }
    return last
  }

  /** @param {string} key */
  #close (key) {
    const listener = this.#byKey.get(key)
    listener?.handle.close()
    listener?.file?.remove()
    this.#byKey.delete(key)
  }
}

/** libuv accepts one connection a turn of its loop: the queue is empty when a whole turn has brought none. @param {() => number} accepted */
async function emptied (accepted) {
  for (let seen = -1; seen !== accepted(); await setImmediate()) seen = accepted()
}

/** The kernel takes no path of more than ~100 bytes. @param {string} socketPath */
function shortest (socketPath) {
  const relative = path.relative(process.cwd(), socketPath)
  return relative.length < socketPath.length ? relative : socketPath
}

module.exports = { Listeners }
