'use strict'

// Keeps 50 KB of every request for ever. /slow answers after 300 ms: the path decides, so that the load knows which
// latencies to time.
const http = require('node:http')
const { signRoster } = require('../support/sign-roster')

const leak = []

http.createServer((request, response) => {
  leak.push(Buffer.alloc(50 * 1024, 1))
  if (request.url === '/slow') setTimeout(() => response.end('hello\n'), 300)
  else response.end('hello\n')
}).listen(process.env.PORT, signRoster)
