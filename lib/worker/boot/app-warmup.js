'use strict'

/**
 * Requests that the app answers before it listens: its code is compiled, and its caches fill. They come over TCP connections of
 * this process with itself, and are tracked as those of clients: V8 compiles code for objects of one shape, and throws it
 * away when another comes.
 */

const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { HEAD } = require('./http-warmup')

const CONNECTIONS = 5

/**
 * Resolves when all are answered and the connections are closed.
 *
 * @param {any[]} servers those of http and https are asked, others are left out
 * @param {number} requests for each
 * @param {(server: any) => void} track
 */
async function warmUpApp (servers, requests, track) {
  for (const server of servers) {
    if (!(server instanceof http.Server || server instanceof https.Server)) continue
    track(server)
    for (let i = 0; i < Math.min(CONNECTIONS, requests); i++) await connection(server, Math.ceil((requests - i) / CONNECTIONS))
  }
}

/**
 * A keep-alive connection with one request after the other. An app that closes it gets no more on it.
 *
 * @param {import('node:http').Server | import('node:https').Server} server a TLS server gets it as one that is deciphered
 * @param {number} requests
 */
async function connection (server, requests) {
  const { client, socket } = await connectedPair()
  const gone = [client, socket].map(end => new Promise(resolve => end.once('close', resolve)))
  let left = requests
  const ask = () => left-- > 0 ? client.write(HEAD) : client.end()
  const onRequest = (/** @type {any} */ request, /** @type {any} */ response) => {
    if (request.socket === socket) response.once('close', ask)
  }
  server.prependListener('request', onRequest)
  for (const end of [client, socket]) end.on('error', () => {}) // its close follows
  client.resume()
  server.emit(server instanceof https.Server ? 'secureConnection' : 'connection', socket)
  ask()
  await Promise.all(gone)
  server.removeListener('request', onRequest)
}

/** @returns {Promise<{ client: net.Socket, socket: net.Socket }>} two ends of one connection */
async function connectedPair () {
  const door = net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: false })
  door.listen({ port: 0, host: '127.0.0.1', exclusive: true }) // of this process alone: the primary is not asked
  await once(door, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (door.address())
  const accepted = once(door, 'connection')
  const client = net.connect(port, '127.0.0.1')
  const [socket] = await accepted
  door.close()
  return { client, socket }
}

module.exports = { warmUpApp }
