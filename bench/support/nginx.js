'use strict'

/** nginx in front of a server, in a folder of its own: the most common layout. */

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: passed } = require('node:timers/promises')
const { freePort, probe, targetOf } = require('../../lib/tools/drill/target')
const { temporaryFolder } = require('./folder')

const READY_MS = 5000
const SITE = fs.readFileSync(path.join(__dirname, '..', '..', 'examples', 'deploy', 'nginx', 'shop.conf'), 'utf8')

/** @returns {string | null} such as nginx/1.22.1; null: nginx is not in PATH */
function nginxVersion () {
  const { error, stderr } = spawnSync('nginx', ['-v'], { encoding: 'utf8' })
  return error ? null : /nginx\/[\d.]+/.exec(stderr)?.[0] ?? 'nginx'
}

/**
 * With the site of examples/deploy/nginx, which keeps connections to the app, and without retries, unless it is told:
 * with them nginx sends a failed GET again, to the next one, and hides the failure.
 *
 * @param {number | number[]} upstreamPorts
 * @param {{ port?: number, repeats?: boolean, keepsFor?: string }} [how] `keepsFor`: idle connections to the app, a
 *   time of nginx's
 * @returns {Promise<{ port: number, stop: () => Promise<Record<string, number>> }>} `stop`: the errors that nginx has
 *   logged, each with its count
 * @throws {Error} where it does not listen within 5 s
 */
async function startNginx (upstreamPorts, { port: given, repeats = false, keepsFor = '4s' } = {}) {
  const folder = temporaryFolder()
  fs.chmodSync(folder, 0o755) // if root starts nginx, its worker runs as another user
  const port = given ?? await freePort()
  fs.writeFileSync(path.join(folder, 'nginx.conf'), configOf(port, [upstreamPorts].flat(), repeats, keepsFor))
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const gone = once(nginx, 'exit')
  const end = () => nginx.kill('SIGTERM')
  process.once('exit', end)
  const deadline = Date.now() + READY_MS
  for (let why = await probe(target(port)); why !== null; why = await probe(target(port))) {
    if (nginx.exitCode !== null || Date.now() > deadline) throw new Error(`nginx does not listen (${why}): ${errorLog(folder)}`)
    await passed(20)
  }
  return {
    port,
    async stop () {
      process.removeListener('exit', end)
      nginx.kill('SIGTERM')
      await gone
      return countErrors(errorLog(folder))
    }
  }
}

/** @param {number} port */
function target (port) {
  return targetOf(new URL(`http://127.0.0.1:${port}`))
}

/** @param {string} folder */
function errorLog (folder) {
  try {
    return fs.readFileSync(path.join(folder, 'error.log'), 'utf8').trim()
  } catch {
    return ''
  }
}

/**
 * @param {string} log with lines as
 *   `2026/11/24 00:18:00 [error] 8#8: *45 upstream prematurely closed connection while …, client: …`
 */
function countErrors (log) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const [, text] of log.matchAll(/\[error\] [^*]*\*\d+ (.*?), client:/g)) counts[text] = (counts[text] ?? 0) + 1
  return counts
}

/** @param {number} port @param {number[]} upstreamPorts @param {boolean} repeats @param {string} keepsFor */
function configOf (port, upstreamPorts, repeats, keepsFor) {
  // Without max_fails=0 nginx leaves one alone for 10 s that has failed once, and answers 502 itself when none is left.
  const servers = upstreamPorts.map(upstream => `server 127.0.0.1:${upstream}${upstreamPorts.length > 1 ? ' max_fails=0' : ''};`).join('\n  ')
  return `daemon off;
pid nginx.pid;
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_body_buffer_size 64k;
  keepalive_requests 1000000;
  proxy_next_upstream ${repeats ? 'error timeout' : 'off'};
${SITE.replace(/server 127\.0\.0\.1:8080[^;]*;/, servers).replace('listen 80', `listen 127.0.0.1:${port}`)
  .replace('keepalive 32', 'keepalive 100').replace('keepalive_timeout 4s', `keepalive_timeout ${keepsFor}`)}
}
`
}

module.exports = { nginxVersion, startNginx }
