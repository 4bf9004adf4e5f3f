'use strict'

/**
 * Clients of a fleet whose workers are killed. Each knows what a kill may cost its request, and notes what has become
 * of it.
 */

const { setTimeout: sleep } = require('node:timers/promises')
const { RawClient, head } = require('../../support/raw-client')
const { causeOf } = require('../clients')

/**
 * @typedef {object} Exchange
 * @property {string} kind
 * @property {number} port the client's
 * @property {number} startedAt ms since the epoch, as `t`
 * @property {number} t when it was answered, or failed
 * @property {number} ageMs of its connection then, which a worker has had for so long at the least: since its first
 *   answer
 * @property {string} outcome 'answered', '502', or what else has happened
 *
 * @typedef {(client: RawClient, how: { n: number, random: () => number, headers: string[] }) => Promise<unknown>} Ask
 *   throws where it is not answered as it should be
 */

const UPLOAD = Buffer.alloc(200_000, 'x')
const BIG_BYTES = 10_000_000
const [PARTS, PART_BYTES] = [5, 1000]
const SLOW_MS = 5 // between two chunks: a second for all
const REST_MS = 50 // after a failure

/** @param {string} method @returns {Ask} */
const plain = method => async (client, { n, headers }) => {
  const path = `/echo/${n}`
  const body = await answered(client, head(method, path, ...headers))
  if (method === 'GET' && String(body) !== path) throw new Error('other bytes')
}

/**
 * What they ask for, how many of each there are, and what a kill may cost.
 *
 *   costs   nothing: unless two workers have died with it, which is answered with 502
 *           '502': that, at any death
 *           anything: its answer may be lost
 *
 * @type {Record<string, { count: number, costs: 'nothing' | '502' | 'anything', isFresh?: boolean, ask: Ask }>}
 */
const KINDS = {
  GET: { count: 10, costs: 'nothing', ask: plain('GET') },
  HEAD: { count: 2, costs: 'nothing', ask: plain('HEAD') },
  OPTIONS: { count: 2, costs: 'nothing', ask: plain('OPTIONS') },
  'slow GET': { count: 6, costs: 'nothing', ask: async (client, { random, headers }) => answered(client, head('GET', `/late?ms=${Math.round(random() * 300)}`, ...headers)) },
  'parked GET': { count: 8, costs: 'nothing', ask: async (client, { random, headers }) => answered(client, head('GET', `/late?ms=${3000 + Math.round(random() * 3000)}`, ...headers)) },
  'GET of 2 KB': {
    count: 3,
    costs: '502', // the first such one of a connection has its place only after it has been read
    ask: async (client, { n, headers }) => answered(client, head('GET', `/echo/${n}`, ...headers, `X-Long: ${'y'.repeat(2000)}`))
  },
  'half a head': {
    count: 4,
    costs: 'nothing',
    async ask (client, { n, random, headers }) {
      const bytes = head('GET', `/echo/${n}`, ...headers)
      const at = 1 + Math.floor(random() * (bytes.length - 2))
      begin(client, bytes.slice(0, at))
      await sleep(random() * 400)
      client.send(bytes.slice(at))
      await responded(client)
    }
  },
  'GET with an empty line behind it': { count: 2, costs: 'nothing', ask: async (client, { n, headers }) => answered(client, `${head('GET', `/late?ms=${n % 100}`, ...headers)}\r\n`) },
  'POST answered before its body': {
    count: 3,
    costs: 'anything', // one whose body is still to come ends with its worker
    async ask (client, { n, random, headers }) {
      begin(client, head('POST', '/at-once', ...headers, 'Content-Length: 5'))
      await sleep(random() * 20)
      client.send('hello')
      await responded(client)
      await answered(client, head('GET', `/late?ms=${n % 100}`, ...headers))
    }
  },
  'bare LF': { count: 2, costs: '502', ask: async (client, { headers }) => answered(client, head('POST', '/at-once', ...headers, 'Content-Length: 0').replaceAll('\r', '')) },
  'no length': {
    count: 2,
    costs: 'anything', // a reset, and never a part of it
    async ask (client, { headers }) {
      const body = await answered(client, head('GET', '/no-length', ...headers))
      if (client.isCutShort) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      if (body.length !== PARTS * PART_BYTES) throw new Error('other bytes')
    }
  },
  pipelined: { count: 3, costs: '502', ask: async (client, { n, headers }) => answered(client, Array.from({ length: 3 }, () => head('GET', `/late?ms=${n % 30}`, ...headers)).join(''), 3) },
  upload: {
    count: 3,
    costs: '502',
    async ask (client, { random, headers }) {
      begin(client, head('POST', '/', ...headers, `Content-Length: ${UPLOAD.length}`))
      for (let at = 0; at < UPLOAD.length && !client.isEnded; at += 50_000) {
        client.send(UPLOAD.subarray(at, at + 50_000))
        await sleep(random() * 40)
      }
      if (String(await responded(client)) !== String(UPLOAD.length)) throw new Error('other bytes')
    }
  },
  '100-continue': {
    count: 2,
    costs: 'anything', // 100 is a part of an answer
    async ask (client, { headers }) {
      await answered(client, head('POST', '/', ...headers, 'Expect: 100-continue', 'Content-Length: 5'))
      await answered(client, 'x'.repeat(5))
    }
  },
  '10 MB to a slow reader': {
    count: 2,
    costs: 'anything',
    async ask (client, { headers }) {
      const rest = () => {
        client.pause()
        setTimeout(() => client.resume(), SLOW_MS)
      }
      client.on('data', rest)
      try {
        const body = await answered(client, head('GET', '/big', ...headers))
        if (body.length !== BIG_BYTES) throw new Error('other bytes')
      } finally {
        client.removeListener('data', rest)
      }
    }
  },
  'a connection a request': { count: 2, costs: 'anything', isFresh: true, ask: plain('GET') }
}

/**
 * @param {RawClient} client @param {string} bytes of a request, or the rest of one @param {number} [count] of responses
 */
function answered (client, bytes, count = 1) {
  return responded(begin(client, bytes), count)
}

/** @param {RawClient} client @param {string} bytes */
function begin (client, bytes) {
  client.responses.length = 0
  client.isHead = bytes.startsWith('HEAD ')
  return client.send(bytes)
}

/** @param {RawClient} client @param {number} [count] @returns {Promise<Buffer>} body of the last one */
async function responded (client, count = 1) {
  const responses = await client.received(count).catch(error => {
    if (client.responses.at(-1)?.status === 502) return client.responses
    throw error
  })
  for (const { status } of responses) if (status !== 200 && status !== 100) throw new Error(String(status))
  return responses[count - 1].body
}

class KillClients {
  /** @type {Exchange[]} */
  exchanges = []
  #isStopping = false

  /**
   * @param {number} port @param {() => number} random @param {boolean} isSticky each client has a session
   * @param {number} thinkMs between two requests, at most
   */
  constructor (port, random, isSticky, thinkMs) {
    this.port = port
    this.thinkMs = thinkMs
    this.random = random
    this.done = Promise.all(Object.entries(KINDS).flatMap(([kind, { count }]) =>
      Array.from({ length: count }, (_, i) => this.#run(kind, isSticky ? [`Cookie: sid=${kind.replace(/\W/g, '-')}-${i}`] : []))))
  }

  async stop () {
    this.#isStopping = true
    await this.done
  }

  /** @param {string} kind @param {string[]} headers */
  async #run (kind, headers) {
    const { isFresh = false, ask } = KINDS[kind]
    /** @type {RawClient | null} */
    let client = null
    let heldSince = 0
    let port = 0
    for (let n = 0; !this.#isStopping; n++) {
      let startedAt = Date.now()
      let outcome = 'answered'
      try {
        if (client === null) {
          heldSince = Infinity // it may wait in the kernel for a worker that accepts, while others boot
          client = await RawClient.connect(this.port)
          port = Number(client.localPort)
          if (!isFresh) await plain('GET')(client, { n, random: this.random, headers })
          heldSince = Date.now()
          startedAt = heldSince
        }
        await ask(client, { n, random: this.random, headers })
      } catch (error) {
        outcome = causeOf(/** @type {any} */ (error))
      }
      const isOver = client?.isEnded || client?.responses.at(-1)?.headers.connection === 'close'
      this.exchanges.push({ kind, port, startedAt, t: Date.now(), ageMs: Math.max(0, Date.now() - heldSince), outcome })
      if (outcome !== 'answered' || isFresh || isOver) client = await close(client)
      await sleep(outcome === 'answered' ? this.random() * this.thinkMs : REST_MS)
      if (client?.isEnded) { // while it was idle
        this.exchanges.push({ kind, port, startedAt: Date.now(), t: Date.now(), ageMs: Math.max(0, Date.now() - heldSince), outcome: `${client.error ?? 'closed'} as it was idle` })
        client = await close(client)
      }
    }
    await close(client)
  }
}

/** @param {RawClient | null} client */
async function close (client) {
  await client?.close()
  return null
}

module.exports = { KillClients, KINDS }
