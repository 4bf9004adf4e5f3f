'use strict'

// pm2 in cluster mode, its daemon in a home of its own. pm2 reads memory every 30 s; here every second, or its workers
// would be many times over budget. With `reload` no memory limit is set, and the app is reloaded repeatedly; with
// `once`, at SIGUSR2.
const { promisify } = require('node:util')
const { setUpHome, endDaemon } = require('../support/pm2-daemon')

const home = setUpHome({ PM2_WORKER_INTERVAL: '1000' })
const pm2 = require('pm2')

const PAUSE_MS = 1000

const [, , app, workers, budget, what] = process.argv
let isStopping = false

main()

async function main () {
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  await promisify(pm2.connect.bind(pm2))()
  await promisify(pm2.start.bind(pm2))({
    name: 'app',
    script: app,
    exec_mode: 'cluster',
    instances: Number(workers),
    ...(what !== 'reload' && what !== 'once' && { max_memory_restart: Number(budget) })
  })
  if (what === 'reload') setTimeout(reload, PAUSE_MS)
  if (what === 'once') process.on('SIGUSR2', () => pm2.reload('app', () => console.log('\nreloaded')))
}

function reload () {
  if (!isStopping) pm2.reload('app', () => setTimeout(reload, PAUSE_MS)) // pm2 refuses a reload while another one runs
}

async function stop () {
  if (isStopping) return
  isStopping = true
  await endDaemon(home)
  process.exit()
}
