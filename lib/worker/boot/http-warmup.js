'use strict'

/**
 * The first response of a fresh process is slow: Node compiles its HTTP code while that client waits, and with it the
 * clients whose connections have just been moved here. So a worker answers a few requests of its own beforehand, by a
 * server that does not listen: 4 ms of booting, for 1.5 ms of the first response (2.3 → 0.8) on an idle machine, and
 * more on busy CPUs. The workers with which a fleet starts do not: their clients wait for both.
 *
 * They are answered into a socket pair, by sockets of net's: from in-memory ones V8 learned types in Node's code that
 * no client's socket has, and each later request took 3 to 8 % more CPU time. Without the addon there is no warm-up.
 *
 * It runs synchronously before the app is loaded, so the app cannot observe it. A tracer that was loaded earlier (by
 * NODE_OPTIONS) and watches or patches http would, so the warm-up is skipped then.
 */

const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const { closeSync } = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const { loadAddon } = require('../../native/addon')
const { Descriptor } = require('../../native/descriptor')
/** @import { Handle } from '../../core/internals' */

const REQUESTS = 5
const HEAD = Buffer.from('GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n')
const CHANNELS = ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish']

/** @returns {number} how many requests have been answered */
function warmUpHttp () {
  const { addon } = loadAddon()
  if (addon === null || isWatched()) return 0
  const unused = net._createServerHandle('127.0.0.1', 0, 4)
  if (typeof unused === 'number') return 0
  unused.close()
  const Tcp = /** @type {new (type: number) => Handle} */ (unused.constructor) // as the handles of clients are
  let answered = 0
  const server = new http.Server((request, response) => {
    response.end('ok')
    // The event is emitted in a later tick, when the app may have subscribed to the channels
    response.removeAllListeners('finish')
    answered++
  })
  for (let i = 0; i < REQUESTS; i++) {
    const [fd, client] = addon.socketpair()
    const handle = new Descriptor(fd).handleOf(Tcp)
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle }))
    socket.server = socket._server = server // as net does with those that it accepts
    server._connections++
    server.emit('connection', socket)
    socket.emit('data', HEAD)
    socket.destroy()
    closeSync(client)
  }
  return answered
}

function isWatched () {
  return http.Server.prototype.emit !== EventEmitter.prototype.emit ||
    CHANNELS.some(name => diagnostics.hasSubscribers(name))
}

module.exports = { warmUpHttp }
