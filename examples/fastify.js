'use strict'

// A Fastify app that closes itself well: once its worker is drained, its SIGTERM handler runs, and has nothing to wait
// for.
//   npm install fastify && recycle --max-requests 10000 examples/fastify.js
const fastify = require('fastify')()

fastify.get('/', async () => ({ hello: process.pid }))
fastify.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })

process.once('SIGTERM', () => fastify.close()) // connection pools go here
