'use strict'

// The graceful cluster of many blog posts: the replacement listens before the old worker is disconnected, one at a
// time. The old worker has no deadline.
const cluster = require('node:cluster')
const fs = require('node:fs')

const [, , app, workers, budget] = process.argv
cluster.setupPrimary({ exec: app, args: [] })
for (let i = 0; i < Number(workers); i++) cluster.fork()
cluster.on('exit', worker => { if (!worker.exitedAfterDisconnect) cluster.fork() })

let replacing = false
setInterval(() => {
  if (replacing) return
  const over = Object.values(cluster.workers)
    .find(worker => !worker.isReplaced && rssBytes(worker.process.pid) > Number(budget))
  if (!over) return
  replacing = over.isReplaced = true
  cluster.fork().once('listening', () => {
    over.disconnect()
    replacing = false
  })
}, 500)

function rssBytes (pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0 // the process has exited
  }
}

process.on('SIGTERM', () => process.exit())
