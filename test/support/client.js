'use strict'

/** Single requests, and clients whose connection is in a known worker. */

require('./bare-children')
const http = require('node:http')

/**
 * One GET. Never rejects: the result has the error.
 *
 * @param {number} port
 * @param {string} [path]
 * @param {{ agent?: http.Agent, headers?: Record<string, string> }} [how] without an agent: a connection of its own
 * @returns {Promise<{ status: number | null, body: string, error: string | null, headers: http.IncomingHttpHeaders,
 *   reused: boolean }>}
 */
function get (port, path = '/', { agent = undefined, headers = {} } = {}) {
  return new Promise(resolve => {
    const end = (/** @type {any} */ about) => resolve({ status: null, body: '', error: null, headers: {}, reused: request.reusedSocket, ...about })
    const request = http.get({ host: '127.0.0.1', port, path, agent: agent ?? false, headers }, response => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', chunk => { body += chunk })
      response.on('error', error => end({ error: /** @type {any} */ (error).code }))
      response.on('end', () => end({ status: response.statusCode, body, headers: response.headers }))
    })
    request.on('error', error => end({ error: /** @type {any} */ (error).code ?? error.message }))
  })
}

/**
 * One keep-alive client for each of `workers` workers. The app answers /pid with its pid.
 *
 * @param {any} t tap's
 * @param {number} port
 * @param {number} workers
 * @param {string} [header] the app has its pid there, and not in the body
 * @returns {Promise<Map<number, http.Agent>>} by pid
 */
async function clientPerWorker (t, port, workers, header) {
  const byPid = new Map()
  const agents = new Set()
  t.teardown(() => agents.forEach(agent => agent.destroy()))
  for (const deadline = Date.now() + 20_000; byPid.size < workers;) {
    if (Date.now() > deadline) throw new Error(`connections reach ${byPid.size} of ${workers} workers`)
    // Busy workers do not accept, so a burst reaches all of them.
    const batch = Array.from({ length: 4 * workers }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
    for (const agent of batch) agents.add(agent)
    const answers = await Promise.all(batch.map(agent => get(port, '/pid', { agent })))
    answers.forEach(({ body, headers }, i) => {
      const pid = Number(header ? headers[header] : body)
      if (pid && !byPid.has(pid)) byPid.set(pid, batch[i])
      else batch[i].destroy()
    })
  }
  return byPid
}

/**
 * A client that sends requests until it is stopped.
 *
 * @param {number} port
 * @param {string} path
 * @param {http.Agent} agent
 * @param {number} [pauseMs] between a response and the next request
 * @returns {() => Promise<{ requests: number, failures: any[] }>} stops it
 */
function keepAsking (port, path, agent, pauseMs = 5) {
  const stopped = new AbortController()
  /** @type {any[]} */
  const failures = []
  let requests = 0
  const done = (async () => {
    while (!stopped.signal.aborted) {
      const answer = await get(port, path, { agent })
      requests++
      if (answer.status !== 200) failures.push(answer)
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  })()
  return async () => {
    stopped.abort()
    await done
    return { requests, failures }
  }
}

module.exports = { get, clientPerWorker, keepAsking }
