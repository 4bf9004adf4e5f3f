'use strict'

// recluster reads no memory, so it is reloaded repeatedly. A reload boots all replacements at once, and disconnects the
// old workers when every replacement listens. Its timeout for the old ones is an hour in production, a second
// otherwise. Here it is 10 s, because a worker with keep-alive connections would never end.
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
