'use strict'

// Answers each message with its number in the connection, and sends what the hub publishes in a room (bench's
// support/hub.js, at HUB) to the clients of /<room>. Under recycle the connections go to another worker; elsewhere they
// are closed with 1012 when the worker is to end.
const http = require('node:http')
const net = require('node:net')
const readline = require('node:readline')
const { WebSocketServer } = require('ws')
const { webSockets } = require('../../lib/worker')
const { signRoster } = require('../support/sign-roster')

const server = http.createServer((request, response) => response.end('speak WebSocket\n'))
const sockets = new WebSocketServer({ server })
const rooms = new Map()
sockets.on('connection', (socket, request) => {
  socket.state = request.state ?? { count: 0 }
  socket.on('message', () => socket.send(String(++socket.state.count)))
  const room = rooms.get(request.url) ?? rooms.set(request.url, new Set()).get(request.url)
  room.add(socket)
  socket.once('close', () => room.delete(socket))
})
webSockets(sockets, { save: socket => socket.state })
process.once('SIGINT', () => { // of pm2
  for (const socket of sockets.clients) socket.close(1012, 'service restart')
  server.close(() => process.exit())
})
const hub = net.connect(Number(process.env.HUB), '127.0.0.1')
readline.createInterface({ input: hub }).on('line', line => {
  const [room, text] = line.split(' ')
  for (const socket of rooms.get(room) ?? []) socket.send(`push ${text}`)
})
hub.on('error', () => {}).unref()
server.listen(process.env.PORT, signRoster)
