'use strict'

// Watt, restarted repeatedly by its API, as `wattpm restart` does. Its workers are threads, so this process signs the
// roster for them.
const { spawn } = require('node:child_process')
const http = require('node:http')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { signRoster } = require('../support/sign-roster')
const { CLI, MODULES, wattProject } = require('./watt-project')

const PAUSE_MS = 1000 // as in pm2.js
const ASK_MS = 100

const [, , app, workers] = process.argv
const { ROSTER, ...env } = process.env
const watt = spawn(process.execPath, [CLI, 'start'], { cwd: wattProject({ app, port: Number(env.PORT), workers: { static: Number(workers) } }), env, stdio: 'inherit' })
watt.once('exit', code => process.exit(code ?? 1))
process.on('SIGTERM', () => watt.kill('SIGTERM'))

main()

async function main () {
  while (!await answers()) await passed(ASK_MS)
  sign()
  const { RuntimeApiClient } = await import(pathToFileURL(path.join(MODULES, 'node_modules', '@platformatic', 'control', 'lib', 'index.js')).href)
  const client = new RuntimeApiClient()
  for (;;) {
    await passed(PAUSE_MS)
    await client.restartRuntime(watt.pid, 'app')
    sign()
  }
}

function sign () {
  for (let i = 0; i < Number(workers); i++) signRoster(i)
}

/** @returns {Promise<boolean>} */
function answers () {
  return new Promise(resolve => http.get({ host: '127.0.0.1', port: env.PORT, path: '/' }, response => response.resume().once('end', () => resolve(response.statusCode === 200))).once('error', () => resolve(false)))
}

/** @param {number} ms */
function passed (ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}
