'use strict'

/**
 * Requests that the app answers before it listens: its code is compiled, and its caches fill. V8 compiles code for objects of one
 * shape and throws it away when another comes, so these requests are as those of clients: over TCP connections that are
 * tracked, several at a time, from another process.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')

const CLIENT = path.join(__dirname, 'warmup-client.js')

/**
 * Resolves when all are answered and the connections are closed.
 *
 * @param {any[]} servers those of http and https are asked, others are left out
 * @param {number} requests for each
 * @param {(server: any) => void} track
 * @throws {Error} where the app leaves one without an answer
 */
async function warmUpApp (servers, requests, track) {
  for (const server of servers) {
    if (requests === 0 || !(server instanceof http.Server || server instanceof https.Server)) continue
    track(server)
    await answer(server, requests)
  }
}

/** @param {import('node:http').Server | import('node:https').Server} server @param {number} requests */
async function answer (server, requests) {
  const event = server instanceof https.Server ? 'secureConnection' : 'connection' // as one that is deciphered
  const door = net.createServer({ allowHalfOpen: true, noDelay: true }, socket => server.emit(event, socket))
  door.listen({ port: 0, host: '127.0.0.1', exclusive: true }) // of this process alone: the primary is not asked
  await once(door, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (door.address())
  const client = spawn(process.execPath, [CLIENT, String(port), String(requests)], { env: {}, stdio: 'ignore' })
  const [code] = await once(client, 'exit')
  const closed = once(door, 'close') // when its connections are
  door.close()
  await closed
  if (code !== 0) throw new Error('a connection was closed without an answer')
}

module.exports = { warmUpApp }
