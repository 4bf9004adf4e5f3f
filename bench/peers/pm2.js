'use strict'

// pm2 in cluster mode, its daemon in a home of its own. pm2 reads memory every 30 s; here every second, or its workers would be
// many times over budget. With `reload` no memory limit is set, and the app is reloaded repeatedly.
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const { temporaryFolder } = require('../support/folder')

const home = temporaryFolder()
Object.assign(process.env, {
  PM2_HOME: home,
  PM2_WORKER_INTERVAL: '1000',
  PM2_DISABLE_VERSION_CHECK: 'true',
  PM2_NO_INTERACTION: 'true',
  PM2_DISCRETE_MODE: 'true'
})
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
    ...(what !== 'reload' && { max_memory_restart: Number(budget) })
  })
  if (what === 'reload') setTimeout(reload, PAUSE_MS)
}

function reload () {
  if (!isStopping) pm2.reload('app', () => setTimeout(reload, PAUSE_MS)) // pm2 refuses a reload while another one runs
}

/** The daemon outlives this process. It is ended by its pid, and ends its workers. */
async function stop () {
  if (isStopping) return
  isStopping = true
  const pid = Number(fs.readFileSync(path.join(home, 'pm2.pid'), 'latin1'))
  process.kill(pid, 'SIGTERM')
  for (let i = 0; i < 80 && isAlive(pid); i++) await new Promise(resolve => setTimeout(resolve, 100))
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  process.exit()
}

function isAlive (pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
