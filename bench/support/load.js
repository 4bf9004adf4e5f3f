'use strict'

/**
 * The raw load generator, in a process of its own: plain sockets, since on a small machine a full HTTP client takes the
 * CPU of the workers.
 *
 *     const { load } = require('./support/load')
 *     await load({ port, connections: 50, seconds: 5 })                         // as fast as possible
 *     await load({ port, connections: 50, requests: 100_000, rate: 2000 })      // exactly 2,000 a second
 *     await load({ port, connections: 50, seconds: 5, keepAlive: false })       // a connection per request
 *
 * With a rate, requests are due at even intervals whether or not a connection is free to send them, and a latency
 * counts from then: a stall of the server counts for every request that was due meanwhile (no coordinated omission).
 *
 * The count is strict: a request that was sent is answered, by a complete response of status 200, or dropped. A
 * response's `Connection: close` is honoured. Responses have a Content-Length.
 *
 * @typedef {object} Load
 * @property {number} port of 127.0.0.1
 * @property {number} connections
 * @property {number} [seconds] how long; requests in flight then are waited for
 * @property {number} [warmSeconds] before that, on the same connections: counted, but not timed; 0 unless given
 * @property {number} [requests] or how many
 * @property {number | null} [rate] per second, in all; as fast as possible unless given
 * @property {boolean} [keepAlive] true unless given
 * @property {string} [path]
 * @property {string[]} [headers] of each request, as `Name: value`
 * @property {string[]} [cookies] a connection's requests have one of them, in turn over the connections
 * @property {boolean} [alternate] or each request has the next of them
 *
 * @typedef {object} Figures
 * @property {number} requests sent; each is answered or dropped
 * @property {number} dropped
 * @property {number} refused attempts to connect that failed: nothing was sent, so the client tries again, and nothing
 *   is dropped
 * @property {Record<string, number>} errors how many of each
 * @property {number} sockets opened
 * @property {number} seconds from the first request that is timed to the last answer
 * @property {number} rps answered per second
 * @property {number} p50 latencies in ms
 * @property {number} p90
 * @property {number} p99
 * @property {number} p999
 * @property {number} max
 */

const net = require('node:net')
const { Pace } = require('../../lib/tools/drill/swarm')
const { inOwnProcess } = require('./own-process')
const { percentiles } = require('./statistics')

const PATIENCE_MS = 20_000 // for an answer
const REST_MS = 20 // after a failed attempt to connect

/** @param {Load} how @returns {Promise<Figures>} */
async function load (how) {
  return inOwnProcess(__filename, how)
}

/** @param {Load} how */
function make ({ port, connections, seconds = Infinity, warmSeconds = 0, requests = Infinity, rate = null, keepAlive = true, path = '/', headers = [], cookies = [''], alternate = false }) {
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${keepAlive ? '' : 'Connection: close\r\n'}`
  const more = headers.map(header => `${header}\r\n`).join('')
  const prepared = cookies.map(cookie => Buffer.from(`${head}${more}${cookie && `Cookie: ${cookie}\r\n`}\r\n`))
  let began = performance.now()
  const until = began + (warmSeconds + seconds) * 1000
  const pace = rate === null ? null : new Pace(rate, began)
  /** @type {number[]} */
  const latencies = []
  /** @type {Record<string, number>} */
  const errors = {}
  /** @type {Client[]} */
  const free = []
  let [sent, dropped, refused, sockets, isReported] = [0, 0, 0, 0, false]
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  class Client {
    /** @type {net.Socket | null} */
    socket = null
    isOpen = false
    isBusy = false
    dueAt = 0
    sentAt = 0
    /** @type {Buffer | null} */
    part = null

    /** @param {number} turn which of the cookies it has */
    constructor (turn) {
      this.turn = turn
    }

    /** @param {number} dueAt ms */
    send (dueAt) {
      this.isBusy = true
      this.dueAt = dueAt
      if (this.isOpen) this.#write()
      else this.#open()
    }

    #open () {
      const socket = this.socket = net.connect(port, '127.0.0.1')
      let error = 'closed before the response'
      socket.setNoDelay(true)
      socket.on('connect', () => {
        sockets++
        this.isOpen = true
        this.#write()
      })
      socket.on('data', chunk => this.#read(chunk))
      socket.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) => { error = String(code) })
      socket.on('close', () => {
        if (this.socket !== socket) return
        const wasOpen = this.isOpen
        this.isOpen = false
        this.socket = null
        if (!this.isBusy) return
        if (wasOpen) return this.#settle(this.part ? 'closed during the response' : error)
        errors[error] = (errors[error] ?? 0) + 1 // nothing was sent: the client tries again
        refused++
        if (performance.now() - this.dueAt > PATIENCE_MS) this.#settle(error)
        else setTimeout(() => this.#open(), REST_MS)
      })
    }

    #write () {
      this.sentAt = performance.now()
      this.socket?.write(prepared[this.turn % prepared.length])
      if (alternate) this.turn++
    }

    /** @param {Buffer} chunk */
    #read (chunk) {
      if (!this.isBusy) return this.#drop() // a response to no request
      const all = this.part ? Buffer.concat([this.part, chunk]) : chunk
      const head = all.toString('latin1', 0, 1024)
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) {
        this.part = all
        return
      }
      const error = head.startsWith('HTTP/1.1 200') ? null : `status ${head.slice(9, 12)}`
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)
      if (!length) return this.#settle(error ?? 'no content-length')
      const missing = end + 4 + Number(length[1]) - all.length
      if (missing > 0) {
        this.part = all
        return
      }
      if (!keepAlive || missing < 0 || /\r\nconnection: *close/i.test(head)) this.#drop()
      this.#settle(error)
    }

    #drop () {
      this.socket?.destroy()
      this.socket = null
      this.isOpen = false
    }

    /** @param {string | null} error */
    #settle (error) {
      this.isBusy = false
      this.part = null
      if (error === null) {
        latencies.push(performance.now() - this.dueAt)
      } else {
        dropped++
        errors[error] = (errors[error] ?? 0) + 1
        this.#drop()
      }
      next(this)
    }

    /** @param {number} t */
    check (t) {
      if (this.isBusy && this.isOpen && t - this.sentAt > PATIENCE_MS) this.#settle('timeout')
    }

    close () {
      this.socket?.end()
    }
  }

  if (warmSeconds > 0) {
    setTimeout(() => {
      latencies.length = 0
      began = performance.now()
    }, warmSeconds * 1000)
  }
  const clients = Array.from({ length: connections }, (_, i) => new Client(i))
  const patience = setInterval(() => clients.forEach(client => client.check(performance.now())), 1000)
  for (const client of clients) next(client)

  /** @param {Client} client that is free */
  function next (client) {
    if (pace) {
      free.push(client)
      return sendDue()
    }
    const t = performance.now()
    if (sent >= requests || t >= until) return report()
    sent++
    client.send(t)
  }

  function sendDue () {
    clearTimeout(timer)
    const t = performance.now()
    const { nextAt } = /** @type {Pace} */ (pace)
    if (sent >= requests || nextAt >= until) return report()
    const [client] = free
    if (!client) return
    if (nextAt > t) {
      timer = setTimeout(sendDue, Math.max(1, nextAt - t))
      return
    }
    sent++
    free.shift()
    client.send(/** @type {number} */ (pace?.take(t)))
    sendDue()
  }

  function report () {
    if (isReported || clients.some(client => client.isBusy)) return
    isReported = true
    const elapsed = (performance.now() - began) / 1000
    clearInterval(patience)
    clients.forEach(client => client.close())
    console.log(JSON.stringify({
      requests: sent,
      dropped,
      refused,
      errors,
      sockets,
      seconds: Math.round(elapsed * 1000) / 1000,
      rps: Math.round(latencies.length / elapsed * 10) / 10,
      ...percentiles(latencies)
    }))
    setTimeout(() => process.exit(), 50) // the server may keep a closed connection open
  }
}

if (require.main === module) make(JSON.parse(process.argv[2]))
else module.exports = { load }
