'use strict'

/**
 * The first response of a fresh process is slow: Node compiles its HTTP code while a client waits, and behind that client
 * all those whose connections have just been moved here. So a worker answers itself a few requests beforehand, by a server
 * that listens nowhere, over sockets that are memory: 4 ms of booting, for 1.5 ms of the first response (2.3 → 0.8) where
 * nothing else runs, and more on busy CPUs.
 *
 * It is done before the app is loaded, in one go, so that the app sees nothing of it. Where somebody has come before us who
 * watches or has changed http (a tracer in NODE_OPTIONS), that one would, and it is left out.
 */

const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const http = require('node:http')
const { Duplex } = require('node:stream')

const REQUESTS = 5
const HEAD = Buffer.from([
  'GET / HTTP/1.1', 'Host: localhost:8080', 'User-Agent: rehearsal', 'Accept: */*', 'Accept-Encoding: gzip', 'Connection: keep-alive', '\r\n'
].join('\r\n'))
const CHANNELS = ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish']

/** A connection whose other end nobody holds. */
class Prop extends Duplex {
  /** @override */
  _read () {}

  /** @override @param {unknown} chunk @param {string} encoding @param {() => void} done */
  _write (chunk, encoding, done) {
    done()
  }

  setTimeout () {
    return this
  }
}

/** @returns {number} how many requests have been answered */
function warmUpHttp () {
  if (isWatched()) return 0
  let answered = 0
  const server = new http.Server((request, response) => {
    response.end('ok')
    response.removeAllListeners('finish') // it would be told in a later tick, when the app may be listening to the channels
    answered++
  })
  for (let i = 0; i < REQUESTS; i++) {
    const socket = new Prop()
    server.emit('connection', socket)
    socket.emit('data', HEAD)
    socket.destroy()
  }
  return answered
}

function isWatched () {
  return http.Server.prototype.emit !== EventEmitter.prototype.emit || CHANNELS.some(name => diagnostics.hasSubscribers(name))
}

module.exports = { warmUpHttp }
