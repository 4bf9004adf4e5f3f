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
  const withHandle = /** @type {{ _handle: unknown }} */ (/** @type {unknown} */ (server))
  withHandle._handle = door._handle // the app may ask for its address, or whether it listens
  try {
    // Without a file of its own, which an installation of another version may have taken away
    const client = spawn(process.execPath, ['-e', `(${askAll})(${port}, ${requests})`], { env: {}, stdio: 'ignore' })
    const [code] = await once(client, 'exit')
    if (code !== 0) throw new Error('a connection was closed without an answer')
  } finally {
    withHandle._handle = null
    await new Promise(resolve => door.close(resolve))
  }
}

/**
 * Runs in the client's process. Each of several keep-alive connections is opened anew after some requests: the code
 * that begins and ends a connection is compiled, too.
 * @param {number} port @param {number} requests
 */
function askAll (port, requests) {
  const { Agent, get } = require('node:http')
  const connections = 50
  const requestsEach = 25
  let left = requests
  const connection = () => new Agent({ keepAlive: true, maxSockets: 1 })
  /** @param {import('node:http').Agent} agent of one connection @param {number} asked on it @returns {void} */
  const ask = (agent, asked) => {
    if (asked === requestsEach || left === 0) agent.destroy()
    if (left === 0) return
    if (asked === requestsEach) return ask(connection(), 0)
    left--
    const request = get({ port, host: '127.0.0.1', agent }, response => {
      response.resume().once('end', () => setImmediate(ask, agent, asked + 1)) // when the agent has its socket back
    })
    request.once('error', () => process.exit(1))
  }
  for (let i = 0; i < connections; i++) ask(connection(), 0)
}

module.exports = { warmUpApp }
