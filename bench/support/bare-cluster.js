'use strict'

// Bare cluster: `node bare-cluster.js <rr|none> <workers> <app> [everyMs]`. Prints "ready" when every worker listens.
// With `everyMs` a worker is replaced that often: another is forked, and when it listens the oldest is killed, with all
// its requests. That is the least that a replacement can cost.
const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const path = require('node:path')

const [, , policy, workers, app, everyMs] = process.argv
cluster.schedulingPolicy = policy === 'rr' ? cluster.SCHED_RR : cluster.SCHED_NONE
cluster.setupPrimary({ exec: path.resolve(app) })
let listening = 0
for (let i = 0; i < Number(workers); i++) {
  cluster.fork().once('listening', () => { if (++listening === Number(workers)) begin() })
}

function begin () {
  console.log('ready')
  if (everyMs) setInterval(replace, Number(everyMs))
}

function replace () {
  cluster.fork().once('listening', () => alive().find(worker => !worker.process.killed)?.process.kill('SIGKILL'))
}

/** @returns {import('node:cluster').Worker[]} oldest first */
function alive () {
  return /** @type {any[]} */ (Object.values(cluster.workers ?? {}))
}

process.on('SIGTERM', () => {
  for (const worker of alive()) worker.process.kill('SIGKILL')
  process.exit()
})
