'use strict'

// Each request costs the CPU about 7 ms. A worker, or a thread that is one, appends a line to the file STARTS when it
// listens and when it exits.
const { pbkdf2Sync } = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')

const note = (/** @type {string} */ what) => { if (process.env.STARTS) fs.appendFileSync(process.env.STARTS, `${what} ${Date.now()}\n`) }

http.createServer((request, response) => {
  pbkdf2Sync('password', 'salt', 45_000, 32, 'sha256')
  response.end('ok')
}).listen(Number(process.env.PORT), '127.0.0.1', () => note('up'))
process.on('exit', () => note('down'))
process.on('SIGTERM', () => process.exit())
