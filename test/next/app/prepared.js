'use strict'

/**
 * In the place of the standalone output's server.js: the pages are loaded before the server listens, so a mold has
 * them.
 */

const http = require('node:http')

process.env.NODE_ENV = 'production'
process.chdir(__dirname)
const { config } = require('./.next/required-server-files.json')
process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config)

const next = require('next')
const app = next({ dev: false, dir: __dirname, conf: config, hostname: 'localhost', port: Number(process.env.PORT) })
app.prepare().then(() => http.createServer(
  { keepAliveTimeout: Number(process.env.KEEP_ALIVE_TIMEOUT) || undefined }, app.getRequestHandler()
).listen(process.env.PORT))
