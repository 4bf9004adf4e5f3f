'use strict'

// Leaks 50 KB a request; one request in ten takes 300 ms.
const http = require('node:http')

const leak = []

http.createServer((request, response) => {
  leak.push(Buffer.alloc(50 * 1024, 1))
  setTimeout(() => response.end('hello\n'), Math.random() < 0.1 ? 300 : 0)
}).listen(process.env.PORT ?? 3000)
