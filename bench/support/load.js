'use strict'

// A load process: `node load.js <port> <connections> <seconds> <keep-alive|close>`. Prints { rps, p50, p99, errors } as
// JSON. Raw sockets, since on a small machine a full HTTP client would be what is measured.
const net = require('node:net')

const [, , port, connections, seconds, mode] = process.argv
const keepAlive = mode === 'keep-alive'
const request = Buffer.from(`GET / HTTP/1.1\r\nHost: localhost\r\n${keepAlive ? '' : 'Connection: close\r\n'}\r\n`)
const end = performance.now() + Number(seconds) * 1000
const latencies = []
let errors = 0
let open = 0

for (let i = 0; i < Number(connections); i++) one()

function one () {
  let began = performance.now()
  let answered = false
  const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(request))
  open++
  socket.setNoDelay(true)
  socket.on('data', () => { // an answer of this app is one segment
    latencies.push(performance.now() - began)
    answered = true
    if (!keepAlive) return
    if (performance.now() >= end) return socket.end()
    began = performance.now()
    answered = false
    socket.write(request)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open--
    if (!answered && performance.now() < end) errors++
    if (performance.now() < end) one()
    else if (open === 0) report()
  })
}

function report () {
  latencies.sort((a, b) => a - b)
  const at = share => Math.round(latencies[Math.floor(share * (latencies.length - 1))] * 1000) / 1000
  console.log(JSON.stringify({ rps: Math.round(latencies.length / Number(seconds)), p50: at(0.5), p99: at(0.99), errors }))
  process.exit()
}
