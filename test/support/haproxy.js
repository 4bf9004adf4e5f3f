'use strict'

/** HAProxy in front of a server, with the configuration of examples/deploy/haproxy. */

require('./bare-children')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { freePort } = require('./fleet')
const { get } = require('./client')

const CONFIGURATION = fs.readFileSync(path.join(__dirname, '..', '..', 'examples', 'deploy', 'haproxy', 'haproxy.cfg'), 'utf8')
const READY_MS = 10_000

/**
 * Without retries, which would hide a request that fails.
 *
 * @param {any} t tap's
 * @param {{ port: number, adminPort: number }} upstream
 * @returns {Promise<number>} its port, when it answers through the server
 */
async function startHaproxy (t, upstream) {
  const port = await freePort()
  const text = CONFIGURATION.replace('bind :80', `bind 127.0.0.1:${port}`).replace('127.0.0.1:8080', `127.0.0.1:${upstream.port}`)
    .replace('port 9100', `port ${upstream.adminPort}`).replace('defaults\n', 'defaults\n  retries 0\n')
  const file = path.join(t.testdir({ 'haproxy.cfg': text }), 'haproxy.cfg')
  const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  haproxy.stderr.setEncoding('utf8').on('data', text => { said += text })
  const gone = new Promise(resolve => haproxy.once('close', resolve))
  t.teardown(() => {
    haproxy.kill('SIGTERM')
    return gone
  })
  for (const deadline = Date.now() + READY_MS; (await get(port)).status !== 200;) {
    if (haproxy.exitCode !== null || Date.now() > deadline) throw new Error(`HAProxy does not answer: ${said}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return port
}

module.exports = { startHaproxy }
