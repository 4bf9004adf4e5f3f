'use strict'

// Each request leaves 50 KB on the heap for ever.
const http = require('node:http')

const kept = []

http.createServer((request, response) => {
  kept.push(new Array(6250).fill(kept.length))
  response.end(String(kept.length))
}).listen(process.env.PORT)
