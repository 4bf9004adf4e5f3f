'use strict'

// Writes a line of JSON of BYTES bytes on stdout for each request, as an access log; /primary answers with the pid of
// the supervisor.
const http = require('node:http')

const frame = JSON.stringify({ pid: process.pid, padding: '' })
const line = `${JSON.stringify({ pid: process.pid, padding: 'x'.repeat(Number(process.env.BYTES) - frame.length - 1) })}\n`

http.createServer((request, response) => {
  if (request.url === '/primary') return response.end(String(process.ppid))
  process.stdout.write(line)
  response.end('hello\n')
}).listen(process.env.PORT)
