'use strict'

// Answers each message with its number in the connection. Under recycle the connections go to another worker; elsewhere
// they are closed with 1012 when the worker is to end.
const http = require('node:http')
const { WebSocketServer } = require('ws')
const { webSockets } = require('../../lib/worker')
const { signRoster } = require('../support/sign-roster')

const server = http.createServer((request, response) => response.end('speak WebSocket\n'))
const sockets = new WebSocketServer({ server })
sockets.on('connection', (socket, request) => {
  socket.state = request.state ?? { count: 0 }
  socket.on('message', () => socket.send(String(++socket.state.count)))
})
webSockets(sockets, { save: socket => socket.state })
process.once('SIGINT', () => { // of pm2
  for (const socket of sockets.clients) socket.close(1012, 'service restart')
  server.close(() => process.exit())
})
server.listen(process.env.PORT, signRoster)
