'use strict'

// Keeps 50 KB of every request for ever. /slow answers after 300 ms: a path, not a dice, so that the load knows which
// latencies to look at.
//
// In the folder ROSTER names it leaves an empty file whose name says who it is: <pid>-<boot began>-<listens>, ms since
// the epoch. By this a bench sees the workers of any supervisor alike, and asks none of them.
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')

const leak = []

http.createServer((request, response) => {
  leak.push(Buffer.alloc(50 * 1024, 1))
  if (request.url === '/slow') setTimeout(() => response.end('hello\n'), 300)
  else response.end('hello\n')
}).listen(process.env.PORT, () => {
  const name = [process.pid, performance.timeOrigin, Date.now()].map(Math.round).join('-')
  if (process.env.ROSTER) fs.writeFileSync(path.join(process.env.ROSTER, name), '')
})
