'use strict'

// Ten routes, one of which keeps 50 KB of each request: `recycle --memory-by-route` finds out which. One request in ten
// takes 300 ms.
const http = require('node:http')

const ROUTES = ['/', '/about', '/cart', '/contact', '/help', '/login', '/news', '/orders', '/prices', '/search']
const LEAKS = '/orders'
const leak = []

http.createServer((request, response) => {
  if (request.url === LEAKS) leak.push(Buffer.alloc(50 * 1024, 1))
  response.statusCode = ROUTES.includes(request.url) ? 200 : 404
  setTimeout(() => response.end('hello\n'), Math.random() < 0.1 ? 300 : 0)
}).listen(process.env.PORT ?? 3000)
