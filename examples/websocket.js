'use strict'

// WebSockets that stay open while their workers are replaced: a page counts what its connection has echoed, and shows
// which worker has it.
//   npm install ws && recycle --workers 4 examples/websocket.js
// Open http://localhost:3000, and `recycle reload` in another terminal: the worker changes, the count goes on, and the
// connection is never closed.
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { WebSocketServer } = require('ws')
const { webSockets } = require('recycle-supervisor/worker')

const page = fs.readFileSync(path.join(__dirname, 'websocket.html'))
const server = http.createServer((request, response) => response.setHeader('Content-Type', 'text/html; charset=utf-8').end(page))
const sockets = new WebSocketServer({ server })

sockets.on('connection', (socket, request) => {
  const state = socket.state = request.state ?? { count: 0, workers: 0 } // with a state it comes from another worker
  state.workers++
  const tell = () => socket.send(JSON.stringify({ pid: process.pid, ...state }))
  socket.on('message', () => {
    state.count++
    tell()
  })
  tell()
})
webSockets(sockets, { save: socket => socket.state })
server.listen(process.env.PORT ?? 3000)
