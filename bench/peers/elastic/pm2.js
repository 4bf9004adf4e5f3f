'use strict'

// pm2 in cluster mode with pm2-autoscale, which runs here as it does in pm2's own process for modules:
// `node pm2.js <app> <max> <modules>`.
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { promisify } = require('node:util')
const { setUpHome, endDaemon } = require('../../support/pm2-daemon')

const home = setUpHome()

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

async function stop () {
  await endDaemon(home)
  process.exit()
}
