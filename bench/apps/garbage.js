'use strict'

// The app of the published experiment: each request makes 6,000 Buffers of one byte, all garbage after it.
const http = require('node:http')

http.createServer((request, response) => {
  const buffers = []
  for (let i = 0; i < 6000; i++) buffers.push(Buffer.alloc(1))
  response.end(String(buffers.length))
}).listen(process.env.PORT)
