'use strict'

// The supervisor of the 2017 experiment, rewritten: every 5 s an awk over smaps for each worker, while the primary
// waits. A worker over budget is disconnected, and gets SIGTERM after 4 s. A worker that has exited is replaced.
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
    return 0 // the process has exited
  }
}

process.on('SIGTERM', () => process.exit())
