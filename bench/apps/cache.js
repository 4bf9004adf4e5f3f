'use strict'

// A cache of 300 MB on the heap, of which each request replaces 20 entries: a replaced entry is old, so no scavenge
// collects it.
const http = require('node:http')

const ENTRIES = 300_000
const CHURN = 20
const entry = id => ({ id, name: `entry ${id}`, values: new Array(110).fill(id) }) // 1 KB
const cache = new Map()
for (let id = 0; id < ENTRIES; id++) cache.set(id, entry(id))
let next = 0

http.createServer((request, response) => {
  for (let i = 0; i < CHURN; i++, next = (next + 7919) % ENTRIES) cache.set(next, entry(next))
  response.end(cache.get(next).name)
}).listen(process.env.PORT)
