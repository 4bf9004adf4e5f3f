'use strict'

// Each app of this folder answers / at once, and /slow after 300 ms.
const http = require('node:http')
const { signRoster } = require('../../support/sign-roster')

http.createServer((request, response) => {
  const answer = () => response.setHeader('Content-Type', 'application/json').end('{"hello":"http"}')
  if (request.url === '/slow') setTimeout(answer, 300)
  else answer()
}).listen(process.env.PORT, signRoster)
