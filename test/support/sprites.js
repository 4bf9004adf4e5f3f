'use strict'

/**
 * Clients of examples/sprites: each joins, polls for ever, and throws sprites; it repeats what got no answer, as the
 * page does.
 */

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')

const RETRY_MS = 50

class Player {
  id = ''
  ack = 0
  #thrown = 0
  #isOver = false
  /** Sprites in order of arrival. @type {unknown[]} */
  got = []
  /** Sprites that were accepted. @type {unknown[]} */
  threw = []
  /** Codes of the errors of its requests. @type {string[]} */
  errors = []
  /** Numbers that came other than in their order. @type {string[]} */
  flaws = []
  /** How often one of its polls has moved, as the workers say. */
  moves = 0
  /** @type {(() => void)[]} */
  #watchers = []

  /** @param {number} port */
  constructor (port) {
    this.port = port
    this.agent = new http.Agent({ keepAlive: true })
    this.poller = new http.Agent({ keepAlive: true, maxSockets: 1 })
  }

  async join (name = '') {
    const { body } = await this.#request(this.agent, 'POST', `/join?name=${name}`)
    this.id = body.id
    this.polling = this.#poll()
    return this
  }

  /** @param {string} edge @param {unknown} sprite */
  async throw (edge, sprite) {
    const number = ++this.#thrown
    const { status } = await this.#request(this.agent, 'POST', `/sprite?id=${this.id}&edge=${edge}&number=${number}`, sprite)
    if (status !== 202) throw new Error(`a throw was answered with ${status}`)
    this.threw.push(sprite)
  }

  /** Resolves when it has so many. @param {number} count */
  async has (count) {
    while (this.got.length < count) await new Promise(resolve => this.#watchers.push(() => resolve(undefined)))
  }

  async close () {
    this.#isOver = true
    this.agent.destroy()
    this.poller.destroy()
    await this.polling
  }

  async #poll () {
    while (!this.#isOver) {
      const { status, body, moves } = await this.#request(this.poller, 'GET', `/poll?id=${this.id}&ack=${this.ack}`)
      if (this.#isOver) return
      if (status !== 200) throw new Error(`a poll was answered with ${status}`)
      this.moves += moves
      for (const { number, sprite } of body.sprites) {
        if (number !== this.ack + 1) this.flaws.push(`${number} after ${this.ack}`)
        this.ack = number
        this.got.push(sprite)
      }
      for (const watch of this.#watchers.splice(0)) watch()
    }
  }

  /**
   * Until it is answered.
   *
   * @param {http.Agent} agent @param {string} method @param {string} path @param {unknown} [json]
   */
  async #request (agent, method, path, json) {
    for (;;) {
      try {
        const answer = await send(agent, this.port, method, path, json)
        if (![502, 503].includes(answer.status)) return answer // 502: two workers have died with it
        this.errors.push(String(answer.status))
      } catch (error) {
        if (this.#isOver) return { status: 0, body: null, moves: 0 }
        this.errors.push(/** @type {any} */ (error).code)
      }
      await delay(RETRY_MS)
    }
  }
}

/**
 * @param {http.Agent} agent
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {unknown} [json]
 * @returns {Promise<{ status: number, body: any, moves: number }>}
 */
function send (agent, port, method, path, json) {
  return new Promise((resolve, reject) => {
    const request = http.request({ agent, port, method, path }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => { text += chunk })
      response.on('end', () => resolve({
        status: response.statusCode ?? 0,
        body: text ? JSON.parse(text) : null,
        moves: Number(/moves=(\d+)/.exec(String(response.headers['sprites-worker']))?.[1] ?? 0)
      }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(json === undefined ? undefined : JSON.stringify(json))
  })
}

/**
 * Each sprite that was accepted has arrived, once, and in the order of its receiver's numbers.
 *
 * @param {any} t tap's
 * @param {Player[]} players
 * @param {number} count of sprites
 */
async function checkSprites (t, players, count) {
  const threw = players.flatMap(({ threw }) => threw)
  const arrived = () => players.reduce((sum, { got }) => sum + got.length, 0)
  while (arrived() < threw.length) await Promise.race(players.map(player => player.has(player.got.length + 1)))
  const got = players.flatMap(({ got }) => got)
  t.equal(threw.length, count)
  t.same(got.map(String).sort(), threw.map(String).sort(), 'every sprite has arrived, and none twice')
  t.same(players.flatMap(({ flaws }) => flaws), [])
}

module.exports = { Player, send, checkSprites }
