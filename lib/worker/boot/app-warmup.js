'use strict'

/** Requests that the app answers before it listens, over in-memory sockets: its code is compiled, and its caches fill. */

const http = require('node:http')
const https = require('node:https')
const { HEAD, MemorySocket } = require('./http-warmup')

/**
 * One request after the other, each on a connection of its own. Resolves when the last has been answered.
 *
 * @param {any[]} servers those of http and https are asked, others are left out
 * @param {number} requests for each
 */
async function warmUpApp (servers, requests) {
  for (const server of servers) {
    if (!(server instanceof http.Server || server instanceof https.Server)) continue
    for (let i = 0; i < requests; i++) await request(server)
  }
}

/** @param {import('node:http').Server | import('node:https').Server} server @returns {Promise<void>} */
function request (server) {
  return new Promise(resolve => {
    const socket = Object.assign(new MemorySocket(), { remoteAddress: '127.0.0.1', remoteFamily: 'IPv4' })
    const end = () => {
      socket.destroy()
      resolve()
    }
    server.prependOnceListener('request', (_, response) => { response.once('close', end) })
    server.emit(server instanceof https.Server ? 'secureConnection' : 'connection', socket)
    socket.once('close', end)
    socket.push(HEAD)
  })
}

module.exports = { warmUpApp }
