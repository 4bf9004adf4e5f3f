'use strict'

// Answers at once; a request to /poison ends its worker by an exception.
const http = require('node:http')
const { signRoster } = require('../support/sign-roster')

http.createServer((request, response) => {
  if (request.url === '/poison') throw new Error('poison')
  response.end('ok\n')
}).listen(process.env.PORT, signRoster)
