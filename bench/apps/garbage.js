'use strict'

// The published experiment's: each request makes 6,000 Buffers of one byte, and none outlives it.
const http = require('node:http')

http.createServer((request, response) => {
  const buffers = []
  for (let i = 0; i < 6000; i++) buffers.push(Buffer.alloc(1))
  response.end(String(buffers.length))
}).listen(process.env.PORT)
