'use strict'

// Socket.IO with both transports: long polling first, then WebSocket. Every request of a session must reach the same
// worker:
//   npm install socket.io && recycle --sticky query:sid --max-rss 512MiB examples/socketio.js
// A client with a WebSocket goes to another worker when its own is replaced, with its id, rooms and data. One that
// still polls comes back by itself.
const http = require('node:http')
const { Server } = require('socket.io')
const { socketIO } = require('recycle-supervisor/worker')

const server = http.createServer((request, response) => response.end('speak Socket.IO\n'))
const io = new Server(server, { connectionStateRecovery: {} })
socketIO(io)
io.on('connection', socket => {
  socket.on('echo', (message, acknowledge) => acknowledge(message))
})
server.listen(process.env.PORT ?? 3000)
