'use strict'

/** The client of app-warmup.js, in a process of its own: `node warmup-client.js <port> <requests>`, on several keep-alive connections. */

const http = require('node:http')

const CONNECTIONS = 10
const [port, requests] = process.argv.slice(2).map(Number)
const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS })
let left = requests
let waiting = 0

function ask () {
  if (left-- <= 0) {
    if (waiting === 0) agent.destroy()
    return
  }
  waiting++
  const request = http.get({ port, host: '127.0.0.1', agent }, response => {
    response.resume().once('end', () => {
      waiting--
      ask()
    })
  })
  request.once('error', () => process.exit(1))
}

for (let i = 0; i < CONNECTIONS; i++) ask()
