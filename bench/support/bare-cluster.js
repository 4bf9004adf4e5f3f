'use strict'

// Bare cluster: `node bare-cluster.js <rr|none> <workers> <app>`. Says "ready" when every worker listens.
const cluster = require('node:cluster')
const path = require('node:path')

const [, , policy, workers, app] = process.argv
cluster.schedulingPolicy = policy === 'rr' ? cluster.SCHED_RR : cluster.SCHED_NONE
cluster.setupPrimary({ exec: path.resolve(app) })
let listening = 0
for (let i = 0; i < Number(workers); i++) {
  cluster.fork().once('listening', () => { if (++listening === Number(workers)) console.log('ready') })
}
process.on('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGKILL')
  process.exit()
})
