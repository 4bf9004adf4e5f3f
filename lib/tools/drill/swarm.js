'use strict'

/**
 * The clients of one load process. Without a rate each client sends again as soon as it can. With a rate, a free client
 * takes the next request that is due.
 */

const { Client } = require('./client')
const { now } = require('./clock')

class Swarm {
  /** @type {Set<Client>} */
  #atWork = new Set()
  /** Waiting for a request to be due. @type {Client[]} */
  #free = []
  /** @type {Pace | null} */
  #pace = null
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #isEnding = false
  /** @type {() => void} */
  #finish = () => {}

  /**
   * @param {import('./client').Plan & { connections: number, rate: number | null }} plan @param {object} on
   * @param {(latencyMs: number) => void} on.answered @param {(drop: import('./client').Drop) => void} on.dropped
   */
  constructor (plan, { answered, dropped }) {
    this.rate = plan.rate
    this.clients = Array.from({ length: plan.connections }, () => {
      /** @type {Client} */
      const client = new Client(plan, {
        answered,
        dropped,
        free: () => this.#next(client),
        over: () => this.#leave(client)
      })
      return client
    })
    /** Resolves when every client's work is over. @type {Promise<void>} */
    this.finished = new Promise(resolve => { this.#finish = resolve })
  }

  get sockets () {
    return this.clients.reduce((sum, { sockets }) => sum + sockets, 0)
  }

  start () {
    if (this.rate !== null) this.#pace = new Pace(this.rate, now())
    for (const client of this.clients) this.#atWork.add(client)
    for (const client of this.clients) this.#next(client)
  }

  /** From now on the fleet may stop: a client whose connect fails is done. */
  announceStop () {
    for (const client of this.clients) client.isStopAnnounced = true
  }

  /** Sends nothing more; requests in flight are waited for. */
  end () {
    this.announceStop()
    this.#isEnding = true
    clearTimeout(this.#timer)
    for (const client of this.#free.splice(0)) this.#leave(client)
    if (this.#atWork.size === 0) this.#finish()
  }

  /** @param {Client} client */
  #next (client) {
    if (this.#isEnding) return this.#leave(client)
    if (this.#pace === null) return client.send()
    this.#free.push(client)
    this.#sendDue()
  }

  #sendDue () {
    const pace = /** @type {Pace} */ (this.#pace)
    clearTimeout(this.#timer)
    const t = now()
    for (;;) {
      const client = this.#free[0]
      if (!client) return
      const dueAt = pace.take(t)
      if (dueAt === null) break
      this.#free.shift()
      client.send(dueAt)
    }
    this.#timer = setTimeout(() => this.#sendDue(), Math.max(1, pace.nextAt - t))
  }

  /** @param {Client} client */
  #leave (client) {
    client.close()
    this.#atWork.delete(client)
    if (this.#atWork.size === 0) this.#finish()
  }
}

/**
 * The times at which requests are due: even intervals, whether or not a client is free. A request that waits for a
 * client is sent late, and its latency counts from the time it was due. So a slow server cannot hide delays by keeping
 * clients busy ("coordinated omission"; Tene, wrk2). Pure.
 */
class Pace {
  #taken = 0

  /** @param {number} rate requests per second @param {number} startAt ms */
  constructor (rate, startAt) {
    this.intervalMs = 1000 / rate
    this.startAt = startAt
  }

  /** When the next request is due, ms. */
  get nextAt () {
    return this.startAt + this.#taken * this.intervalMs
  }

  /** @param {number} t ms @returns {number | null} when the next request was due; null: none is due yet */
  take (t) {
    const dueAt = this.nextAt
    if (dueAt > t) return null
    this.#taken++
    return dueAt
  }
}

module.exports = { Swarm, Pace }
