'use strict'

/**
 * `--health`: serves a connection of the primary's, by which it probes this worker alone. The app's first HTTP server
 * gets it as if it had accepted it from a client on its own machine. It is no client's: the tracker does not know it,
 * so that it is in no count of connections or requests, is not moved, and no drain waits for it.
 */

const http = require('node:http')
const https = require('node:https')
/** @import { Server } from 'node:net' */
/** @import { Handle } from '../../core/internals' */
/** @import { Acceptor } from '../../worker/accepting/acceptor' */

const FIRST_PORT = 49_152 // from here on no service has one of its own

/** @param {import('../interface').WorkerKernel} kernel @returns {import('../interface').WorkerPart} */
function offerProbe ({ channel, state, acceptors, tracker }) {
  let probes = 0
  channel.answer({
    probe (_, answer, handle) {
      const refuse = (/** @type {string} */ why, isSkipped = true) => {
        handle?.close()
        answer({ why, isSkipped })
      }
      if (!handle) return refuse('no connection came with the message')
      if (!['held', 'serving', 'leaving', 'out'].includes(state.current)) {
        return refuse(`this worker is ${state.current}`)
      }
      const acceptor = [...acceptors].find(({ server, isClosed }) => isHttp(server) && !isClosed)
      if (!acceptor) return refuse('no HTTP server listens', false)
      const server = acceptor.server
      if (server.maxConnections && server._connections >= server.maxConnections) {
        return refuse('maxConnections is reached')
      }
      const connection = acceptor.handleOf(handle)
      if (!connection) return refuse('the connection is of no use')
      tracker.ignore(connection)
      if (acceptor.facade.getsockname) showAddresses(connection, acceptor.facade, probes++)
      answer({ why: null, isTls: isTls(server) })
      acceptor.accept(connection)
    }
  })
  return {}
}

/**
 * The request of a probe comes by a unix socket, which has no addresses: an app that asks for them is told what a TCP
 * connection from 127.0.0.1 has.
 * @param {Handle} connection @param {Acceptor['facade']} listening that accepts it @param {number} number of the probe
 */
function showAddresses (connection, listening, number) {
  const show = (/** @type {() => number} */ port) => (/** @type {Record<string, unknown>} */ out) => {
    Object.assign(out, { address: '127.0.0.1', family: 'IPv4', port: port() })
    return 0
  }
  connection.getpeername = show(() => FIRST_PORT + number % (65_536 - FIRST_PORT))
  connection.getsockname = show(() => {
    /** @type {{ port?: number }} */
    const bound = {}
    listening.getsockname(bound)
    return bound.port ?? 0
  })
}

/** HTTP/1, or HTTP/2 over TLS, which speaks HTTP/1 where the app allows it. @param {Server} server */
const isHttp = server => server instanceof http.Server || isTls(server)

/** @param {Server} server */
function isTls (server) {
  return server instanceof https.Server || ('setSecureContext' in server && server.listenerCount('request') > 0)
}

module.exports = { part: offerProbe }
