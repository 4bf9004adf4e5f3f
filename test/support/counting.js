'use strict'

/**
 * Users with sessions that count (test/fixtures/counting-sessions.js): each knows what its session's count must be, and
 * says where it was not.
 */

const { extent } = require('./campaign')
const { RawClient } = require('./raw-client')

/**
 * @typedef {object} Habit of a user
 * @property {number} [thinkMs] between two requests
 * @property {number} [ms] what a request takes in the app
 * @property {boolean} [reconnects] a connection for each request
 * @property {number} [connections] that it uses by turns
 * @property {string} [method]
 * @property {number} [pollMs] it has a long poll of its session open beside, for so long each
 */

const PACE_MS = extent({ short: 60, long: 0 })

/** The habits of a fleet's users. @type {Habit[]} */
const HABITS = [{}, { thinkMs: 3 }, { thinkMs: 40 }, { reconnects: true }, { connections: 2 }, { connections: 3, thinkMs: 15 }, { ms: 30 }, { method: 'POST' }]

/** In the suite each thinks for PACE_MS at least, but for the first two, which hardly pause. @param {number} user */
const leastThinkMs = user => user > 1 || PACE_MS === 0 ? PACE_MS : 4

/** One habit for each user, in turn. @param {number} users @param {readonly Habit[]} habits @returns {Habit[]} */
const habitsOf = (users, habits) => Array.from({ length: users }, (_, i) => {
  const habit = habits[i % habits.length]
  return { ...habit, thinkMs: Math.max(habit.thinkMs ?? 0, leastThinkMs(i)) }
})

class CountingUsers {
  /** What was not as it must be. @type {Record<string, any>[]} */
  wrong = []
  requests = 0
  /** The longest that a request took beyond its time in the app, ms. */
  longestMs = 0
  #isStopped = false
  /** How many a session has got. @type {Map<string, number>} */
  #answers = new Map()
  /** @type {Promise<void>[]} */
  #users = []

  /** @param {number} port @param {Habit[]} habits a user each */
  constructor (port, habits) {
    this.port = port
    this.habits = habits
  }

  /** Resolves when every user has a session. */
  async begin () {
    await Promise.all(this.habits.map(async habit => {
      const client = await RawClient.connect(this.port)
      const { sid } = JSON.parse(String((await client.fetch('/login')).body))
      this.#users.push(this.#use(sid, habit, [client]))
      if (habit.pollMs) this.#users.push(this.#poll(sid, habit))
    }))
    return this
  }

  /** Resolves when every user has got one more answer. */
  async answered () {
    const before = new Map(this.#answers)
    while ([...this.#answers].some(([sid, answers]) => answers === before.get(sid)) && this.wrong.length === 0) {
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }

  /** Resolves when the last requests are answered. */
  async stop () {
    this.#isStopped = true
    await Promise.all(this.#users)
    return this.wrong
  }

  /** @param {string} sid @param {Habit} habit */
  async #poll (sid, { pollMs }) {
    const client = await RawClient.connect(this.port)
    while (!this.#isStopped) {
      client.responses.length = 0
      try {
        const { status } = await client.fetch(`/poll?ms=${pollMs}`, `Cookie: sid=${sid}`)
        if (status !== 200) this.wrong.push({ status, poll: pollMs })
      } catch (error) {
        this.wrong.push({ status: 0, error: /** @type {Error} */ (error).message, poll: pollMs })
        break
      }
    }
    await client.close()
  }

  /** @param {string} sid @param {Habit} habit @param {RawClient[]} clients */
  async #use (sid, { thinkMs = 0, ms = 0, reconnects = false, connections = 1, method = 'GET' }, clients) {
    const head = [`${method} /${ms ? `?ms=${ms}` : ''} HTTP/1.1`, 'Host: localhost', `Cookie: sid=${sid}`, ...method === 'POST' ? ['Content-Length: 2'] : []]
    const request = head.join('\r\n') + '\r\n\r\n' + (method === 'POST' ? 'ab' : '')
    for (let count = 0; !this.#isStopped;) {
      const turn = count % connections
      const began = performance.now()
      let got
      try {
        clients[turn] ??= await RawClient.connect(this.port)
        clients[turn].responses.length = 0
        const [response] = await clients[turn].send(request).received(1)
        got = { status: response.status, ...JSON.parse(String(response.body)) }
      } catch (error) {
        got = { status: 0, error: /** @type {Error} */ (error).message }
        await clients[turn]?.close()
        delete clients[turn]
      }
      const tookMs = Math.round(performance.now() - began)
      this.requests++
      this.#answers.set(sid, count)
      this.longestMs = Math.max(this.longestMs, tookMs - ms)
      if (got.status !== 200 || got.count !== ++count) {
        this.wrong.push({ ...got, expected: count, tookMs, habit: { thinkMs, ms, reconnects, connections, method } })
        count = got.count ?? count
        if (got.status !== 200) break
      }
      if (reconnects) {
        await clients[turn].close()
        delete clients[turn]
      }
      if (thinkMs) await new Promise(resolve => setTimeout(resolve, thinkMs))
    }
    for (const client of clients) await client?.close()
  }
}

module.exports = { CountingUsers, habitsOf, HABITS }
