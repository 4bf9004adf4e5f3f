'use strict'

/**
 * WebSocket clients that do what clients do, while their connections go from worker to worker. Each message is answered
 * with its number in the connection.
 */

const { setTimeout: sleep } = require('node:timers/promises')
const { WebSocketClient, frame } = require('../../../bench/support/web-socket-client')

const LARGE_BYTES = 1_000_000
const LONGEST_MS = 20_000 // for an answer

/**
 * @typedef {object} Exchange
 * @property {string} kind
 * @property {number} startedAt ms since 1970
 * @property {number} t when it had ended
 * @property {string} outcome 'answered', 'closed', or what was wrong
 *
 * @typedef {(client: WebSocketClient, text: string, random: () => number) => Promise<void>} Send
 */

/** @type {Record<string, { count: number, send: Send, bytes?: number }>} */
const KINDS = {
  echo: { count: 8, send: async (client, text) => { client.send(text) } },
  slow: { count: 3, send: async (client, text) => { client.send(`slow${text}`) } },
  'a frame in two parts': {
    count: 4,
    async send (client, text, random) {
      const bytes = frame(text)
      const at = Math.floor(random() * bytes.length)
      client.write(bytes.subarray(0, at))
      await sleep(random() * 60)
      client.write(bytes.subarray(at))
    }
  },
  fragments: {
    count: 4,
    async send (client, text, random) {
      const at = Math.floor(random() * text.length)
      client.send(text.slice(0, at), { isFinal: false })
      await sleep(random() * 40)
      client.send('between', { opcode: 'ping' })
      await sleep(random() * 40)
      client.send(text.slice(at), { opcode: 'continuation' })
    }
  },
  '1 MB': { count: 2, bytes: LARGE_BYTES, send: async (client, text) => { client.send(text) } },
  ping: {
    count: 2,
    async send (client, text) {
      if (await client.ping(text.slice(0, 100)) === null) return
      client.send(text)
    }
  },
  'closes and comes back': {
    count: 2,
    async send (client, text, random) {
      if (random() < 0.1) client.send(Buffer.from([3, 232]), { opcode: 'close' })
      else client.send(text)
    }
  },
  'vanishes and comes back': {
    count: 2,
    async send (client, text, random) {
      const bytes = frame(text)
      if (random() >= 0.1) return void client.write(bytes)
      client.write(bytes.subarray(0, bytes.length / 2))
      client.destroy()
    }
  }
}

class MigrationClients {
  /** @type {Exchange[]} */
  exchanges = []
  #isOver = false
  #runs

  /** @param {number} port @param {() => number} random @param {number} thinkMs between two messages, at most */
  constructor (port, random, thinkMs) {
    this.port = port
    this.thinkMs = thinkMs
    this.random = random
    this.#runs = Object.entries(KINDS)
      .flatMap(([kind, { count }]) => Array.from({ length: count }, () => this.#run(kind)))
  }

  /** @param {string} kind */
  async #run (kind) {
    while (!this.#isOver) {
      const client = await WebSocketClient.connect(this.port).catch(() => null)
      if (client === null) await sleep(50)
      else await this.#use(client, kind)
    }
  }

  /** @param {WebSocketClient} client @param {string} kind */
  async #use (client, kind) {
    const { send, bytes = 2000 } = KINDS[kind]
    for (let count = 1; !this.#isOver && !client.isEnded; count++) {
      const text = `${count}${'x'.repeat(bytes === LARGE_BYTES ? bytes : this.random() * bytes)}`
      const startedAt = Date.now()
      await send(client, text, this.random)
      const isOurs = client.socket.destroyed || client.code !== null // it has left, or closes
      const outcome = await this.#outcome(client, count, text)
      this.exchanges.push({ kind, startedAt, t: Date.now(), outcome: outcome === 'closed' && (isOurs || client.code === 1000) ? 'left' : outcome })
      await sleep(this.random() * this.thinkMs)
    }
    client.destroy()
  }

  /** @param {WebSocketClient} client @param {number} count @param {string} text @returns {Promise<string>} */
  async #outcome (client, count, text) {
    const answer = await Promise.race([client.next(), sleep(LONGEST_MS, 'late', { ref: false })])
    if (answer === null) return 'closed'
    if (answer === 'late') return 'no answer'
    const [got,,,,, ...words] = String(answer).split(' ')
    const body = words.join(' ')
    if (Number(got) !== count) return `answer ${got} to message ${count}`
    return body === text || body === `slow${text}` ? client.inbox.length === 0 ? 'answered' : 'two answers' : 'other bytes'
  }

  async stop () {
    this.#isOver = true
    await Promise.all(this.#runs)
  }
}

module.exports = { MigrationClients, KINDS }
