'use strict'

// Loads only http, and answers with its pid.
const http = require('node:http')

http.createServer((request, response) => response.end(String(process.pid))).listen(process.env.PORT)
