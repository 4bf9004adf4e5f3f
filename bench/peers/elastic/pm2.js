'use strict'

// pm2 in cluster mode with pm2-autoscale, which runs here as it does in pm2's own process for modules: `node pm2.js <app> <max> <modules>`.
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { promisify } = require('node:util')
const { temporaryFolder } = require('../../support/folder')

const home = temporaryFolder()
Object.assign(process.env, { PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true', PM2_NO_INTERACTION: 'true', PM2_DISCRETE_MODE: 'true' })

const [, , app, max, modules] = process.argv
const of = createRequire(path.join(modules, 'package.json'))
const pm2 = of('pm2')

main()

async function main () {
  process.once('SIGTERM', stop)
  await promisify(pm2.connect.bind(pm2))()
  await promisify(pm2.start.bind(pm2))({ name: 'app', script: app, exec_mode: 'cluster', instances: 1 })
  const { config } = JSON.parse(fs.readFileSync(of.resolve('pm2-autoscale/package.json'), 'utf8')) // its defaults
  of('pm2-autoscale/utils/logger').initLogger({ isDebug: false })
  of('pm2-autoscale/core/pm2').startPm2Connect({ ...config, max_workers: max })
}

/** The daemon outlives this process. It is ended by its pid, and ends its workers. */
async function stop () {
  const pid = Number(fs.readFileSync(path.join(home, 'pm2.pid'), 'latin1'))
  process.kill(pid, 'SIGTERM')
  for (let i = 0; i < 80 && isAlive(pid); i++) await new Promise(resolve => setTimeout(resolve, 100))
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  process.exit()
}

/** @param {number} pid */
function isAlive (pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
