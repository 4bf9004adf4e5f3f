'use strict'

/**
 * Each request makes a Buffer of 1 MB, which lives until 32 more requests have come, as a response to a slow client
 * does: memory outside of V8's heap, where a few bytes hold a megabyte. By then it is old, so no scavenge collects it.
 */

const http = require('node:http')

const KEPT = 32
const kept = new Array(KEPT)
let next = 0

http.createServer((request, response) => {
  const buffer = Buffer.alloc(1024 ** 2, 1) // filled, so that the pages are resident
  kept[next++ % KEPT] = buffer
  response.end(String(buffer.length))
}).listen(process.env.PORT)
