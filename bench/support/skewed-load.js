'use strict'

/**
 * A few busy connections among many quiet ones, in a process of its own. All are opened, and the busy ones are chosen
 * by which process answers there: so many of them of one process, the others of others. Requests are due at even
 * intervals, on each busy connection by itself, and a latency counts from then (no coordinated omission); of one that
 * is not sent by the end it is as long as it has waited. Quiet connections send a request every 4 s.
 *
 *     const { skewedLoad } = require('./support/skewed-load')
 *     await skewedLoad({ port, quiet: 200, busy: 4, together: 4, rate: 600, path: '/2', warmSeconds: 5, seconds: 10 })
 *
 * @typedef {object} Skew
 * @property {number} port of 127.0.0.1; each response is `ok`, with a header `Pid`: bench/apps/spin.js
 * @property {number} quiet connections
 * @property {number} busy connections
 * @property {number} together how many of these one process has at first
 * @property {number} rate requests a second of the busy ones together
 * @property {string} path of their requests
 * @property {number} warmSeconds not timed
 * @property {number} seconds
 */

const net = require('node:net')
const { inOwnProcess } = require('./own-process')
const { percentiles } = require('./statistics')

const QUIET_MS = 4000
const SETTLE_MS = 4000

/**
 * @param {Skew} how
 * @returns {Promise<{ requests: number, dropped: number, sockets: number, rps: number }
 *   & ReturnType<typeof percentiles>>} latencies in ms, of busy connections; `sockets`: opened, more than there are
 *   connections where some were closed
 */
async function skewedLoad (how) {
  return inOwnProcess(__filename, how)
}

/** One connection, by a plain socket: a full HTTP client takes the CPU of the workers. */
class Client {
  sockets = 0
  pid = ''
  /** @type {net.Socket | null} */
  #socket = null
  #text = ''
  #answered = (/** @type {boolean} */ _isAnswered) => {}

  /** @param {number} port */
  constructor (port) {
    this.port = port
  }

  /** @param {string} path @returns {Promise<boolean>} answered */
  get (path) {
    this.#socket ??= this.#open()
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    return new Promise(resolve => { this.#answered = resolve })
  }

  #open () {
    const socket = net.connect(this.port, '127.0.0.1').setNoDelay(true).setEncoding('latin1')
    this.sockets++
    socket.on('data', text => {
      this.#text += text
      if (!this.#text.endsWith('\r\n\r\nok')) return
      this.pid = /\r\npid: (\d+)/i.exec(this.#text)?.[1] ?? ''
      this.#text = ''
      this.#answered(true)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#socket = null
      this.#answered(false) // where a request is under way
    })
    return socket
  }
}

/** @param {Skew} how */
async function make ({ port, quiet, busy, together, rate, path, warmSeconds, seconds }) {
  const clients = Array.from({ length: quiet + busy }, () => new Client(port))
  for (const settleMs of [SETTLE_MS, 0]) { // connections that move because of their number have moved by then
    for (const client of clients) await client.get('/0')
    await new Promise(resolve => setTimeout(resolve, settleMs))
  }
  const chosen = chooseBusy(clients, busy, together)
  const begun = performance.now()
  const from = begun + 1000 * warmSeconds
  const until = from + 1000 * seconds
  /** @type {number[]} */
  const latencies = []
  let [requests, dropped, answered] = [0, 0, 0]
  const count = (/** @type {boolean} */ isAnswered) => {
    requests++
    if (!isAnswered) dropped++
  }
  const ask = async (/** @type {Client} */ client, /** @type {number} */ at) => {
    const everyMs = 1000 * busy / rate
    for (let dueAt = begun + everyMs * at / busy; dueAt < until; dueAt += everyMs) {
      const now = performance.now()
      if (now >= until) {
        if (dueAt >= from) latencies.push(until - dueAt)
        continue
      }
      if (dueAt > now) await new Promise(resolve => setTimeout(resolve, dueAt - now))
      count(await client.get(path))
      if (dueAt < from) continue
      latencies.push(performance.now() - dueAt)
      answered++
    }
  }
  const murmur = async (/** @type {Client} */ client, /** @type {number} */ at) => {
    for (let dueAt = begun + QUIET_MS * at / quiet; dueAt < until; dueAt += QUIET_MS) {
      await new Promise(resolve => setTimeout(resolve, dueAt - performance.now()))
      count(await client.get('/0'))
    }
  }
  await Promise.all([...[...chosen].map(ask), ...clients.filter(client => !chosen.has(client)).map(murmur)])
  console.log(JSON.stringify({
    requests,
    dropped,
    sockets: clients.reduce((sum, { sockets }) => sum + sockets, 0),
    rps: answered / seconds,
    ...percentiles(latencies)
  }))
  process.exit()
}

/** @param {Client[]} clients @param {number} busy @param {number} together @returns {Set<Client>} */
function chooseBusy (clients, busy, together) {
  /** @type {Map<string, Client[]>} */
  const byPid = new Map()
  for (const client of clients) byPid.set(client.pid, [...byPid.get(client.pid) ?? [], client])
  const [fullest, ...others] = [...byPid.values()].sort((a, b) => b.length - a.length)
  const chosen = new Set(fullest.slice(0, together))
  for (let i = 0; chosen.size < busy; i++) {
    const [client = fullest[i]] = others.length > 0 ? others[i % others.length].splice(0, 1) : []
    chosen.add(client)
  }
  return chosen
}

if (require.main === module) make(JSON.parse(process.argv[2]))
else module.exports = { skewedLoad }
