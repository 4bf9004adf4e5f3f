'use strict'

// A request costs the CPU about as many milliseconds as its path says (`/2`: 2 ms); the response says which process had
// it.
const { pbkdf2Sync } = require('node:crypto')
const http = require('node:http')

const ROUNDS_A_MS = 5000

http.createServer((request, response) => {
  const rounds = ROUNDS_A_MS * Number(request.url?.slice(1))
  if (rounds > 0) pbkdf2Sync('password', 'salt', rounds, 32, 'sha256')
  response.setHeader('Pid', process.pid)
  response.end('ok')
}).listen(Number(process.env.PORT), '127.0.0.1')
