'use strict'

/**
 * Puts an acceptor (acceptor.js) between the primary's listening sockets and each of the app's servers, where cluster
 * puts its own.
 *
 * Where listen() differs from a process without cluster (test/apps/listen.test.js compares the rest with plain Node):
 *
 *   port 0       all workers share one port, as under cluster
 *   fd           the primary's descriptor, as under cluster: the primary inherits one from systemd, for example
 *   handle       a TCP handle or net.BoundSocket of the app's own, `exclusive` and `reusePort` do not come here: the
 *                socket is the worker's, its connections are drained and not moved
 *   path         one that is longer than any on Linux: ENAMETOOLONG
 *   server       another server that listens has no handle to share: EINVAL
 *   backlog      at least 4096: a queue that is long enough for one process is soon full in a storm on a fleet
 *   maxConnections   a connection above it waits for a worker with room, as under cluster; with `dropMaxConnection` it
 *                is closed
 *   error        what plain Node throws where it cannot change a socket's mode comes as an `error`
 */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { errorMonitor } = require('node:events')
const net = require('node:net')
const { constants: { errno: { EINVAL, EMFILE, ENAMETOOLONG } } } = require('node:os')
const path = require('node:path')
const { setImmediate } = require('node:timers')
const { Acceptor } = require('./acceptor')
const { serverDataOf } = require('./server-data')
const { shareServers } = require('./share-servers')
/** @import { Server } from 'node:net' */
/** @import { Channel } from '../channel' */

const OWN_CODE = path.join(__dirname, '..', '..', path.sep)
const LONGEST_PATH = 4096 // Linux's; the primary takes no message with a longer one

/**
 * @typedef {{ _getServerData?: () => unknown, _setServerData?: (data: unknown) => void }} TlsServer what of it is asked
 */

class ListenHook {
  /** In the order of their servers' `listen()`. @type {Set<Acceptor>} */
  acceptors = new Set()
  /** @type {Set<string>} */
  #keys = new Set()
  /** Each socket on which this worker listens by its primary is of an acceptor. */
  isOfOurs = true
  /** @type {Channel | null} */
  #channel = null
  #onAcceptor = (/** @type {Acceptor} */ acceptor) => {}
  /** Servers that were to listen before connect(). @type {{ server: Server, listen: (channel: Channel) => void }[]} */
  #pending = []
  /** Called for each `listen()` before connect(), which is held back until then. */
  onHeld = () => {}

  /** From here on every server of this process has an acceptor. */
  constructor () {
    const getServer = cluster._getServer
    cluster._getServer =
      (/** @type {[Server, unknown, (...answer: unknown[]) => void]} */ ...[server, query, done]) => {
        const listen = (/** @type {Channel} */ channel) => {
          if (server instanceof net.Server) return this.#listen(channel, server, query, done)
          this.isOfOurs = false
          channel.expect(1) // a UDP socket, which cluster's primary opens and shares
          getServer.call(cluster, server, query, (/** @type {unknown[]} */ ...answer) => {
            done(...answer)
            channel.expect(-1)
          })
        }
        if (this.#channel) return listen(this.#channel)
        this.#pending.push({ server, listen })
        this.onHeld()
      }
  }

  /** Servers whose `listen()` is held back. @returns {Server[]} */
  get held () {
    return this.#pending.map(({ server }) => server)
  }

  /** The acceptors whose listening sockets are here. @returns {Acceptor[]} */
  get open () {
    return [...this.acceptors].filter(({ listening }) => listening.fd >= 0)
  }

  /** Tells another primary, which has adopted this worker, where it listens already. @param {Channel} channel */
  announce (channel) {
    for (const { key, request } of this.acceptors) {
      channel.call('listen', request, ({ errno }, handle) => {
        handle?.close()
        if (!errno) channel.send('listening', { key, missing: null })
      })
    }
  }

  /**
   * @param {Channel} channel
   * @param {(acceptor: Acceptor) => void} onAcceptor called with each, whose server is about to listen
   */
  connect (channel, onAcceptor) {
    if (this.#channel === null) shareServers(Acceptor.of)
    this.#channel = channel
    this.#onAcceptor = onAcceptor
    for (const { listen } of this.#pending.splice(0)) listen(channel)
  }

  /**
   * @param {Channel} channel @param {net.Server} server @param {any} query net's
   * @param {(...answer: unknown[]) => void} done
   */
  #listen (channel, server, query, done) {
    const tls = /** @type {TlsServer} */ (/** @type {unknown} */ (server))
    const { address, port, addressType, fd, flags, readableAll, writableAll } = query
    if (fd >= 0 && this.open.some(({ listening }) => listening.fd === fd)) return refuse(server, -EINVAL, done)
    // \0: abstract, no file
    const where = port < 0 && typeof address === 'string' && !address.startsWith('\0') ? path.resolve(address) : address
    if ([where, address].some(path => String(path).length > LONGEST_PATH)) return refuse(server, -ENAMETOOLONG, done)
    const key = takeKey(this.#keys, [where, port, addressType, fd].join(':'))
    const asUser = { umask: process.umask(), uid: process.geteuid?.(), gid: process.getegid?.() }
    const bound = {
      address: where,
      asked: address,
      port,
      addressType,
      fd,
      flags,
      readableAll: readableAll === true,
      writableAll: writableAll === true
    }
    const request = { key, query: { ...bound, ...asUser }, data: serverDataOf(server) }
    channel.call('listen', request, ({ errno, data, isQueued = false }, handle) => {
      if (errno || !handle) {
        this.#keys.delete(key)
        return refuse(server, errno || -EMFILE, done)
      }
      if (data !== undefined) tls._setServerData?.(data)
      const acceptor = new Acceptor(server, key, handle, isQueued,
        take => channel.call('listen', request, (_, again) => take(again ?? null)))
      acceptor.request = request
      this.acceptors.add(acceptor)
      acceptor.on('listen', () => setImmediate(() => { // behind the app's own listeners
        if (acceptor.isClosed) return // the app only tested whether the port is free
        channel.send('listening', { key, missing: acceptor.selfTest() })
      }))
      acceptor.on('pinned', why => channel.send('listening', { key, missing: why }))
      acceptor.on('close', () => {
        this.acceptors.delete(acceptor)
        this.#keys.delete(key)
        channel.send('listening', { key, missing: null, isClosed: true })
      })
      this.#onAcceptor(acceptor)
      done(0, acceptor.facade)
    })
  }
}

/**
 * Two servers on the same address (port 0, say) are distinguished by an ordinal, the lowest that is free.
 * @param {Set<string>} keys @param {string} address
 */
function takeKey (keys, address) {
  let ordinal = 0
  while (keys.has(`${address}#${ordinal}`)) ordinal++
  const key = `${address}#${ordinal}`
  keys.add(key)
  return key
}

/**
 * By a listening handle that fails to listen: net reports it like one of its own, as `listen EADDRINUSE`. For a bare
 * errno it would report cluster's `bind EADDRINUSE`, and an app that checks `error.syscall` would not recognise it.
 * @param {net.Server} server @param {number} errno libuv's @param {(...answer: unknown[]) => void} done
 */
function refuse (server, errno, done) {
  // Before the app's listeners, and not counted among them
  server.prependOnceListener(/** @type {string} */ (/** @type {unknown} */ (errorMonitor)), asOfPlainNode)
  done(0, { listen: () => errno, close () {}, ref () {}, unref () {} })
}

/**
 * Without a host net says `null`, though it would listen on `::`, and the stack has frames of this package.
 * @param {NodeJS.ErrnoException & { address?: string | null, port?: number }} error
 */
function asOfPlainNode (error) {
  const plain = (/** @type {string} */ text) => text.replace(` null:${error.port}`, ` :::${error.port}`)
  if (error.address === null && error.port) {
    error.address = '::'
    error.message = plain(error.message)
    error.stack = plain(String(error.stack))
  }
  error.stack = error.stack?.split('\n').filter(line => !line.includes(OWN_CODE)).join('\n')
}

module.exports = { ListenHook }
