'use strict'

// Each request costs the CPU about 0.3 ms, as many an app's do.
const http = require('node:http')

const DATA = Array.from({ length: 300 }, (_, i) => ({ id: i, name: `item ${i}`, tags: ['a', 'b', 'c'] }))

http.createServer((request, response) => {
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(JSON.parse(JSON.stringify(DATA)).length))
}).listen(process.env.PORT)
