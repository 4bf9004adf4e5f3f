'use strict'

// The server of the capacity test: clients log in, stay, and send a ping from time to time. Each connection has a
// buffer of its own (BUFFER_BYTES, 0 for none), as a game server has for what it is to send.
//   recycle examples/capacity/server.js
const http = require('node:http')
const v8 = require('node:v8')

const BUFFER_BYTES = Number(process.env.BUFFER_BYTES ?? 8192)
const REPORT_MS = 100

const server = http.createServer({ keepAliveTimeout: 600_000, noDelay: true }, (request, response) => {
  request.resume()
  response.setHeader('Content-Type', 'text/plain')
  if (request.method === 'POST' && request.url === '/login') response.end('welcome')
  else if (request.url === '/ping') response.end('pong')
  else response.end('POST /login, then GET /ping\n')
})
server.on('connection', (/** @type {any} */ socket) => {
  // Each byte is written, or the kernel would not give the memory
  if (BUFFER_BYTES > 0) socket.outbox = Buffer.alloc(BUFFER_BYTES, 1)
})
server.listen({ port: process.env.PORT ?? 3000, host: '127.0.0.1', backlog: 4096 })

// To the capacity test, when it runs this file by itself: what the heap figures show, and what they do not.
if (process.env.CAPACITY_TEST) {
  // Not process.memoryUsage(): it opens a file, and throws when no descriptor is left
  const report = (isCollected = false) => {
    const { used_heap_size: heapUsed, external_memory: external } = v8.getHeapStatistics()
    process.send?.({ heapUsed, external, isCollected })
  }
  server.on('listening', () => report())
  setInterval(report, REPORT_MS)
  process.on('message', () => { // what is garbage is no figure of a client's
    globalThis.gc?.()
    report(true)
  })
  process.on('disconnect', () => process.exit())
}
