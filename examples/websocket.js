'use strict'

// A WebSocket echo. An upgraded connection is the app's: when its worker drains, the app says 1012 "service restart",
// and clients connect again, to another worker.
//   npm install ws && recycle --max-age 10m examples/websocket.js
const http = require('node:http')
const { WebSocketServer } = require('ws')

const server = http.createServer((request, response) => response.end('speak WebSocket\n'))
const sockets = new WebSocketServer({ server })
sockets.on('connection', socket => socket.on('message', data => socket.send(String(data))))

process.once('recycle:drain', () => { // or require('recycle-supervisor/worker').onDrain(…)
  for (const socket of sockets.clients) socket.close(1012, 'service restart')
  sockets.on('connection', socket => socket.close(1012, 'service restart')) // for a client that was connecting
})
server.listen(process.env.PORT ?? 3000)
