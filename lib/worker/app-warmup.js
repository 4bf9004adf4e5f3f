'use strict'

/**
 * Requests that the app answers before it listens: its code is compiled, and its caches fill. They come over
 * connections that another process opens, several at a time and one after the other, as clients do: V8 compiles code
 * for objects of the shapes that it has seen.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')

const CLIENT = path.join(__dirname, 'boot', 'warmup-client.js')

/**
 * Resolves when all are answered and the connections are closed.
 * @param {unknown[]} servers those of http and https are asked, others are left out @param {number} requests for each
 * @throws {Error} where the app leaves one without an answer
 */
async function warmUpApp (servers, requests) {
  for (const server of servers) {
    if (requests > 0 && (server instanceof http.Server || server instanceof https.Server)) {
      await warmUp(server, requests)
    }
  }
}

/** @param {http.Server | https.Server} server @param {number} requests */
async function warmUp (server, requests) {
  // The bytes come as TLS would have deciphered them: a client certificate, say, is not to be had here.
  const event = server instanceof https.Server ? 'secureConnection' : 'connection'
  const door = net.createServer({ allowHalfOpen: true, noDelay: true }, socket => server.emit(event, socket))
  door.listen({ port: 0, host: '127.0.0.1', exclusive: true }) // of this process alone: the primary is not asked
  await once(door, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (door.address())
  const client = spawn(process.execPath, [CLIENT, String(port), String(requests)], { env: {}, stdio: 'ignore' })
  const [code] = await once(client, 'exit')
  await new Promise(resolve => door.close(resolve))
  if (code !== 0) throw new Error('a connection was closed without an answer')
}

module.exports = { warmUpApp }
