'use strict'

/**
 * The clients of one address, in a process of their own:
 * `node clients.js <address> <port> <first port> <clients> <window>`. Each connects, logs in and stays; with `ping`
 * each sends one ping at its share of a time. Up to `window` logins are under way at once.
 */

const net = require('node:net')

const REPORT_MS = 50
const PATIENCE_MS = 60_000
const LOGIN = 'POST /login HTTP/1.1\r\nHost: capacity\r\nContent-Length: 0\r\n\r\n'
const PING = 'GET /ping HTTP/1.1\r\nHost: capacity\r\n\r\n'
const ANSWER = /^HTTP\/1\.1 200 [^]*\r\n\r\n(?:welcome|pong)$/

/**
 * @typedef {object} Report since the last one
 * @property {number} loggedIn
 * @property {number[]} loginsMs round trips, from connect() to the answer
 * @property {number[]} pingsMs
 * @property {Record<string, number>} lost clients that were refused or closed, by the error's code
 */

const [address, port, firstPort, count, window] = process.argv.slice(2)
/** @type {Report} */
let report = fresh()
/** @type {Set<Client>} */
const present = new Set()
let begun = 0
let underWay = 0
let isOver = false

function fresh () {
  return { loggedIn: 0, loginsMs: [], pingsMs: [], lost: {} }
}

class Client {
  #text = ''
  #sentAt = performance.now()
  #isPresent = false
  /** @type {string | null} */
  #error = null

  /** @param {number} localPort given, since to look for a free one takes the kernel 1 ms when thousands are in use */
  constructor (localPort) {
    underWay++
    this.socket = net.connect({ host: '127.0.0.1', port: Number(port), localAddress: address, localPort, noDelay: true }, () => this.socket.write(LOGIN))
    this.socket.setEncoding('latin1')
    this.socket.on('data', (/** @type {any} */ text) => this.#receive(text))
    this.socket.on('error', error => { this.#error = /** @type {NodeJS.ErrnoException} */ (error).code ?? error.message })
    this.socket.on('close', () => this.#close())
  }

  ping () {
    this.#sentAt = performance.now()
    this.socket.write(PING)
  }

  /** @param {number} now */
  giveUp (now) {
    if (this.#isPresent || now - this.#sentAt < PATIENCE_MS) return
    this.#error = 'no answer'
    this.socket.destroy()
  }

  /** @param {string} text */
  #receive (text) {
    this.#text += text
    if (!ANSWER.test(this.#text)) return
    this.#text = ''
    const took = performance.now() - this.#sentAt
    if (this.#isPresent) return report.pingsMs.push(took)
    this.#isPresent = true
    present.add(this)
    waiting.delete(this)
    report.loggedIn++
    report.loginsMs.push(took)
    underWay--
    more()
  }

  #close () {
    if (isOver) return
    if (this.#isPresent) report.loggedIn--
    else underWay--
    present.delete(this)
    waiting.delete(this)
    const why = this.#error ?? 'closed'
    report.lost[why] = (report.lost[why] ?? 0) + 1
    more()
  }
}

/** @type {Set<Client>} */
const waiting = new Set()

function more () {
  if (isOver) return
  while (begun < Number(count) && underWay < Number(window)) {
    waiting.add(new Client(Number(firstPort) + begun++))
  }
}

/** Each client sends one, at its time. @param {number} overMs */
function ping (overMs) {
  const clients = [...present]
  const began = performance.now()
  let next = 0
  const timer = setInterval(() => {
    const due = Math.ceil(clients.length * Math.min(1, (performance.now() - began) / overMs))
    for (; next < due; next++) if (present.has(clients[next])) clients[next].ping()
    if (next === clients.length) clearInterval(timer)
  }, 5)
}

process.on('message', (/** @type {any} */ { what, overMs }) => {
  if (what === 'login') more()
  if (what === 'ping') ping(overMs)
  if (what === 'stop') isOver = true
})
process.on('disconnect', () => process.exit())
setInterval(() => {
  const now = performance.now()
  for (const client of waiting) client.giveUp(now)
  if (!process.connected) return
  process.send?.(report, undefined, undefined, () => {}) // the parent may have left
  report = fresh()
}, REPORT_MS)
