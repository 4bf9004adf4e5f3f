'use strict'

// Never answers /hold.
const http = require('node:http')

http.createServer((request, response) => {
  if (request.url !== '/hold') response.end('hello\n')
}).listen(process.env.PORT)
