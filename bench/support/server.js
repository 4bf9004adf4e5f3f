'use strict'

const { spawn } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')
const { freePort } = require('../../lib/tools/drill/target')

/**
 * Starts a subject that serves on process.env.PORT and prints "ready" in a line of its own; see bare-cluster.js,
 * recycle.js.
 *
 * @param {string} script a file of this folder
 * @param {string[]} args
 * @param {{ env?: Record<string, string> }} [how]
 * @returns {Promise<{ pid: number, port: number, stop: () => Promise<void> }>} `stop` resolves when it has exited
 * @throws {Error} where it exits before it is ready
 */
async function startServer (script, args, { env = {} } = {}) {
  const port = await freePort()
  const child = spawn(process.execPath, [path.resolve(__dirname, script), ...args], {
    env: { ...process.env, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const gone = new Promise(resolve => child.once('close', resolve))
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  gone.then(() => process.removeListener('exit', end))
  await new Promise((resolve, reject) => {
    readline.createInterface({ input: child.stdout }).on('line', line => { if (line === 'ready') resolve(undefined) })
    gone.then(code => reject(new Error(`${script} ${args.join(' ')} exited with code ${code} before it was ready`)))
  })
  return {
    pid: /** @type {number} */ (child.pid),
    port,
    async stop () {
      child.kill('SIGTERM')
      await gone
    }
  }
}

module.exports = { startServer }
