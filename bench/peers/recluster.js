'use strict'

// recluster, which watches no memory: it reloads, over and over. A reload boots all the replacements at once and
// disconnects the old workers when every one of them listens; its timeout for them is an hour in production, a second
// otherwise. Here 10 s, or nobody who keeps a connection alive would ever be replaced.
const recluster = require('recluster')

const PAUSE_MS = 5000

const [, , app, workers] = process.argv
const balancer = recluster(app, { workers: Number(workers), timeout: 10, log: {} })
balancer.run()
setTimeout(reload, PAUSE_MS)

function reload () {
  balancer.reload(() => setTimeout(reload, PAUSE_MS))
}

process.on('SIGTERM', () => balancer.terminate(() => process.exit()))
