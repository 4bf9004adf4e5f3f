'use strict'

// Plain processes of the app, each on a port of its own and started anew as soon as it has exited, behind nginx that
// asks the next one where one fails: what can be had without a change to the app. nginx repeats GET, and not POST.
const { spawn } = require('node:child_process')
const { freePort } = require('../../lib/tools/drill/target')
const { startNginx } = require('../support/nginx')

const [, , app, workers] = process.argv
/** @type {Set<import('node:child_process').ChildProcess>} */
const living = new Set()
let isStopping = false

main()

async function main () {
  const ports = []
  for (let i = 0; i < Number(workers); i++) ports.push(await freePort())
  const nginx = await startNginx(ports, { port: Number(process.env.PORT), repeats: true })
  for (const port of ports) start(port)
  process.on('SIGTERM', async () => {
    isStopping = true
    for (const child of living) child.kill('SIGKILL')
    await nginx.stop()
    process.exit()
  })
}

/** @param {number} port */
function start (port) {
  const child = spawn(process.execPath, [app], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' })
  living.add(child)
  child.once('exit', () => {
    living.delete(child)
    if (!isStopping) start(port)
  })
}
