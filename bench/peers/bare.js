'use strict'

// Bare cluster. Nothing is recycled, and nothing needs to be dropped: what the others are held against.
const cluster = require('node:cluster')

const [, , app, workers] = process.argv
cluster.setupPrimary({ exec: app, args: [] })
for (let i = 0; i < Number(workers); i++) cluster.fork()
process.on('SIGTERM', () => process.exit())
