'use strict'

// Bare cluster: nothing is recycled, so nothing is dropped. The other peers are compared with it.
const cluster = require('node:cluster')

const [, , app, workers] = process.argv
cluster.setupPrimary({ exec: app, args: [] })
for (let i = 0; i < Number(workers); i++) cluster.fork()
process.on('SIGTERM', () => process.exit())
