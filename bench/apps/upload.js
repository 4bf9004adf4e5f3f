'use strict'

// Reads the request's body and answers with its size. /slow answers after 300 ms.
const http = require('node:http')
const { signRoster } = require('../support/sign-roster')

const server = http.createServer((request, response) => {
  let bytes = 0
  request.on('data', chunk => { bytes += chunk.length })
  request.on('end', () => setTimeout(() => response.end(`${bytes}\n`), request.url === '/slow' ? 300 : 0))
}).listen(process.env.PORT, signRoster)
// Longer than nginx keeps an idle connection (60 s), or the app closes some that nginx is about to use
server.keepAliveTimeout = 75_000
