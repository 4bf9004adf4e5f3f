'use strict'

const { spawn } = require('node:child_process')
const net = require('node:net')
const path = require('node:path')
const readline = require('node:readline')

/**
 * Starts a subject that serves on process.env.PORT and says "ready" in a line of its own; see bare-cluster.js, recycle.js.
 *
 * @param {string} script a file of this folder
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, port?: number }} [how]
 * @returns {Promise<{ pid: number, port: number, stop: () => Promise<void> }>} `stop` resolves when it is gone
 * @throws {Error} where it exits before it is ready
 */
async function startServer (script, args, { env = {}, port } = {}) {
  port ??= await freePort()
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

/** A port of the loopback interface that nobody listens on. @returns {Promise<number>} */
function freePort () {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

module.exports = { startServer, freePort }
