'use strict'

// A lookup table of about 200 MB on the heap, of which each request reads one entry and writes none.
const http = require('node:http')

const ENTRIES = 200_000
const table = new Map()
for (let id = 0; id < ENTRIES; id++) table.set(`key ${id}`, { id, name: `entry ${id}`, values: Array.from({ length: 100 }, (_, i) => id + i) })
let next = 0

http.createServer((request, response) => {
  next = (next + 7919) % ENTRIES
  response.end(table.get(`key ${next}`).name)
}).listen(process.env.PORT)
