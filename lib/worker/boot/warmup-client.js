'use strict'

/**
 * The client of app-warmup.js, in a process of its own: `node warmup-client.js <port> <requests>`. It has several
 * keep-alive connections, and opens each anew after some requests: the code that begins and ends a connection is
 * compiled, too.
 */

const http = require('node:http')

const CONNECTIONS = 50
const REQUESTS_EACH = 25
const [port, requests] = process.argv.slice(2).map(Number)
let left = requests

/** @param {http.Agent} agent of one connection @param {number} asked on it */
function ask (agent, asked) {
  if (asked === REQUESTS_EACH || left === 0) agent.destroy()
  if (left === 0) return
  if (asked === REQUESTS_EACH) return ask(connection(), 0)
  left--
  const request = http.get({ port, host: '127.0.0.1', agent }, response => {
    response.resume().once('end', () => setImmediate(ask, agent, asked + 1)) // when the agent has its socket back
  })
  request.once('error', () => process.exit(1))
}

const connection = () => new http.Agent({ keepAlive: true, maxSockets: 1 })

for (let i = 0; i < CONNECTIONS; i++) ask(connection(), 0)
