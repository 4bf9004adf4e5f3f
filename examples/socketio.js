'use strict'

// Socket.IO with both transports: long polling first, then WebSocket. Every request of a session must reach the same worker:
//   npm install socket.io && recycle --sticky query:sid --max-rss 512MiB examples/socketio.js
const http = require('node:http')
const { once } = require('node:events')
const { Server } = require('socket.io')
const { onDrain } = require('recycle-supervisor/worker')

const server = http.createServer((request, response) => response.end('speak Socket.IO\n'))
const io = new Server(server)
io.on('connection', socket => {
  socket.on('echo', (message, acknowledge) => acknowledge(message))
})

// Each client is told to reconnect, with its next poll at the latest; it does so by itself, and reaches another worker. Until the
// last has left, the sessions are still this worker's. io.engine.close() would not wait for polls.
onDrain(async () => {
  io.on('connection', ({ conn }) => conn.close()) // of a client that was connecting
  for (const { conn } of io.sockets.sockets.values()) conn.close()
  while (io.engine.clientsCount > 0) await Promise.race(Object.values(io.engine.clients).map(conn => once(conn, 'close')))
})
server.listen(process.env.PORT ?? 3000)
