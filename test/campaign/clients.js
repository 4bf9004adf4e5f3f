'use strict'

/** The clients of a campaign: each notes every request that it sends, and compares every byte that it receives. */

const { setTimeout: sleep } = require('node:timers/promises')
const { RawClient } = require('../support/raw-client')

/** @typedef {import('./invariants').Request} Request */

const BODY_BYTES = 200_000
const REST_MS = 50 // after a failure

/** What a client asks for, how many clients do, and whether each request has a connection of its own. */
const KINDS = [
  { count: 6, ask: (/** @type {number} */ n) => `/echo/${n}`, isFresh: false, thinkMs: 30 },
  { count: 2, ask: (/** @type {number} */ n) => `/late?ms=${50 + n % 300}`, isFresh: false, thinkMs: 10 },
  { count: 2, ask: (/** @type {number} */ n) => `/fresh/${n}`, isFresh: true, thinkMs: 30 },
  { count: 2, ask: () => '/parked', isFresh: false, thinkMs: 10 },
  { count: 2, ask: null, isFresh: false, thinkMs: 40 } // they send a body, which comes back
]

class Clients {
  /** @type {Request[]} */
  requests = []
  /** It is over: what cannot connect any more, or ends, is no failure. */
  isOver = false
  #isStopping = false
  #body

  /** @param {number} port @param {() => number} random */
  constructor (port, random) {
    this.port = port
    this.random = random
    this.#body = Buffer.from(Array.from({ length: BODY_BYTES }, (_, i) => (i * 31 + (i >> 8)) % 251))
    this.done = Promise.all(KINDS.flatMap(kind => Array.from({ length: kind.count }, () => this.#run(kind))))
  }

  /** Lets the requests in flight end. */
  async stop () {
    this.#isStopping = true
    await this.done
  }

  /** @param {typeof KINDS[number]} kind */
  async #run ({ ask, isFresh, thinkMs }) {
    /** @type {RawClient | null} */
    let client = null
    /** @type {number | null} */
    let pid = null
    for (let n = 0; !this.#isStopping; n++) {
      const startedAt = Date.now()
      let port = 0
      try {
        if (client === null || client.isEnded) {
          pid = null
          client = await RawClient.connect(this.port)
        }
        port = client.localPort ?? 0
        const isLast = await this.#exchange(client, ask && ask(n), served => { pid = served })
        this.requests.push({ startedAt, t: Date.now(), port, pid, error: null })
        if (isFresh || isLast) client = await this.#close(client)
      } catch (error) {
        if (this.isOver) return
        this.requests.push({ startedAt, t: Date.now(), port, pid, error: causeOf(/** @type {any} */ (error)) })
        if (client) client = await this.#close(client)
        await sleep(REST_MS)
      }
      await sleep(this.random() * thinkMs)
    }
    if (client) await this.#close(client)
  }

  /**
   * @param {RawClient} client @param {string | null} path null: a body is sent
   * @param {(pid: number) => void} served
   * @returns {Promise<boolean>} whether the server closes after it
   */
  async #exchange (client, path, served) {
    const expected = path === null ? this.#body : Buffer.from(path)
    if (path === null) client.send(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`).send(this.#body)
    else client.get(path)
    const [response] = await client.received(1)
    client.responses.length = 0
    served(Number(response.headers['x-pid']))
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    if (!response.body.equals(expected)) throw new Error('other bytes than expected')
    return response.headers.connection === 'close'
  }

  /** @param {RawClient} client */
  async #close (client) {
    await client.close()
    return null
  }
}

/** @param {NodeJS.ErrnoException} error */
function causeOf ({ code, message }) {
  if (code) return code
  const [, how] = /ended \((\w+)\)/.exec(message) ?? []
  if (how) return how === 'FIN' ? 'closed' : how
  return /waited/.test(message) ? 'timeout' : message
}

module.exports = { Clients, causeOf }
