'use strict'

/**
 * A strict client. Every request that does not get a complete response with status 200 and the expected body is a
 * failure, with its error, time and local port. It honours `Connection: close`, as node:http's agent does, and counts
 * how many sockets it had to open.
 */

const http = require('node:http')
const { extent } = require('./campaign')

// In the suite a load only keeps requests in flight and connections idle, and leaves the CPU to the code
// under test. The long run puts full load on the fleet; so does a test that sets 0.
const THINK_MS = extent({ short: 200, long: 2 })

/** @typedef {{ sockets: WeakSet<object>, before: string }} Seen by a client: its sockets, and how the last one ended */

class Load {
  /**
   * @param {object} how
   * @param {number} [how.port]
   * @param {string} [how.socketPath]
   * @param {string} [how.host]
   * @param {number} [how.connections] clients, each with a connection of its own
   * @param {boolean} [how.keepAlive]
   * @param {number} [how.thinkMs] between a response and the next request, up to; 0: as fast as it is answered
   * @param {number} [how.postBytes] 0: GET
   * @param {string | string[]} [how.path] of a list, each request takes one at random
   * @param {object} [how.https] options of https, where the server speaks it
   */
  constructor ({ port, socketPath, host = '127.0.0.1', connections = 20, keepAlive = true, thinkMs = THINK_MS, postBytes = 0, path = '/', https }) {
    this.how = { port, socketPath, host }
    this.paths = [path].flat()
    this.thinkMs = thinkMs
    this.body = postBytes ? Buffer.alloc(postBytes, 'x') : null
    this.keepsAlive = keepAlive
    this.isSecure = https !== undefined
    this.module = https ? require('node:https') : http
    this.requests = 0
    this.failures = []
    this.sockets = 0
    /** Of connections after a client's first. @type {{ t: number, why: string }[]} `why`: how the one before ended */
    this.anew = []
    this.latencies = []
    this.isStopping = false
    const agents = Array.from({ length: connections }, () =>
      new this.module.Agent({ keepAlive, maxSockets: 1, ...https }))
    this.clients = agents.map(agent => this.#client(agent))
  }

  /** Lets requests in flight finish; resolves with the counts. */
  async stop () {
    this.isStopping = true
    await Promise.all(this.clients)
    return this.counts()
  }

  counts () {
    const { requests, failures, sockets, anew } = this
    return { requests, failures, sockets, anew }
  }

  /** Resolves when `count` more requests have ended. @param {number} count */
  async after (count) {
    const until = this.requests + count
    while (this.requests < until && !this.isStopping) await new Promise(resolve => setTimeout(resolve, 5))
  }

  /** @param {http.Agent} agent */
  async #client (agent) {
    /** @type {Seen} */
    const seen = { sockets: new WeakSet(), before: '' }
    while (!this.isStopping) {
      await this.#request(agent, seen)
      if (this.thinkMs) await new Promise(resolve => setTimeout(resolve, Math.random() * this.thinkMs))
    }
    agent.destroy()
  }

  /** @param {import('node:net').Socket} socket @param {Seen} seen */
  #opened (socket, seen) {
    this.sockets++
    if (seen.before && this.keepsAlive) this.anew.push({ t: Date.now(), why: seen.before })
    seen.sockets.add(socket)
    seen.before = 'closed by this client'
    socket.once('end', () => { if (seen.before !== 'Connection: close') seen.before = `ended by the server at ${Date.now()}` })
    socket.once('error', error => { seen.before = error.message })
  }

  /** @param {http.Agent} agent @param {Seen} seen */
  #request (agent, seen) {
    return new Promise(resolve => {
      const began = Date.now()
      let localPort = 0
      const end = (/** @type {string | null} */ error) => {
        if (request.ended) return
        request.ended = true
        this.requests++
        this.latencies.push(Date.now() - began)
        if (error) {
          this.failures.push({
            error, t: Date.now(), afterMs: Date.now() - began, localPort, reused: request.reusedSocket
          })
        }
        if (error) request.destroy()
        resolve(undefined)
      }
      const request = /** @type {any} */ (this.module.request({ ...this.how, path: this.paths[Math.floor(Math.random() * this.paths.length)], agent, method: this.body ? 'POST' : 'GET', timeout: 20_000 }, response => {
        if (response.headers.connection === 'close') seen.before = 'Connection: close'
        response.resume()
        response.on('end', () => end(response.statusCode === 200 && response.complete ? null : `status ${response.statusCode}`))
        response.on('aborted', () => end('aborted'))
        response.on('error', error => end(/** @type {any} */ (error).code ?? error.message))
      }))
      request.on('socket', (/** @type {import('node:net').Socket} */ socket) => {
        if (!seen.sockets.has(socket)) this.#opened(socket, seen)
        localPort = socket.localPort ?? 0
        if (socket.connecting) socket.once('connect', () => { localPort = socket.localPort ?? 0 })
      })
      request.on('timeout', () => end('timeout'))
      request.on('error', (/** @type {any} */ error) => end(error.code ?? error.message))
      request.end(this.body)
    })
  }
}

module.exports = { Load }
