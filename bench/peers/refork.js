'use strict'

// Bare cluster that forks a worker anew as soon as one has exited. With `gunicorn`: gunicorn's rule, which is a shared
// socket, and missing workers that are spawned one after the other, each after a pause of up to 100 ms
// (Arbiter.spawn_workers).
const cluster = require('node:cluster')

const [, , app, workers, , rule] = process.argv
if (rule === 'gunicorn') cluster.schedulingPolicy = cluster.SCHED_NONE
cluster.setupPrimary({ exec: app, args: [] })
for (let i = 0; i < Number(workers); i++) cluster.fork()
let missing = 0
cluster.on('exit', () => {
  if (rule !== 'gunicorn') return cluster.fork()
  if (++missing === 1) spawnNext()
})

function spawnNext () {
  cluster.fork()
  setTimeout(() => { if (--missing > 0) spawnNext() }, 100 * Math.random())
}

process.on('SIGTERM', () => process.exit())
