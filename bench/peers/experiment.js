'use strict'

// The published experiment's supervisor in its own few lines, written anew: an awk over smaps every 5 s for each worker,
// while the primary waits; over budget: disconnect, and SIGTERM after 4 s. Who has gone is replaced.
const { execFileSync } = require('node:child_process')
const cluster = require('node:cluster')

const [, , app, workers, budget] = process.argv
cluster.setupPrimary({ exec: app, args: [] })
for (let i = 0; i < Number(workers); i++) cluster.fork()
cluster.on('exit', () => cluster.fork())

setInterval(() => {
  for (const worker of Object.values(cluster.workers)) {
    if (worker.isDying || rssBytes(worker.process.pid) < Number(budget)) continue
    worker.isDying = true
    worker.disconnect()
    setTimeout(() => worker.process.kill('SIGTERM'), 4000)
  }
}, 5000)

function rssBytes (pid) {
  try {
    return Number(execFileSync('awk', ['/^Rss:/ { kib += $2 } END { print kib }', `/proc/${pid}/smaps`])) * 1024
  } catch {
    return 0 // it has gone
  }
}

process.on('SIGTERM', () => process.exit())
