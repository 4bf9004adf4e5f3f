'use strict'

const http = require('node:http')

http.createServer((request, response) => response.end('hello\n')).listen(process.env.PORT)
