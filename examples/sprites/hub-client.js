'use strict'

/**
 * The hub as a worker sees it: calls that are answered, and polls that are parked. When the connection is lost and
 * comes back, each parked poll is parked anew, so the hub may answer it with what was on its way.
 */

const ANSWER_MS = 30_000
const CONNECT_MS = 10_000

/**
 * @typedef {object} Wire a way to the hub. It is up from `up` to `down`, again and again
 * @property {(message: Record<string, any>) => void} send
 * @property {(on: { up: () => void, down: () => void, message: (message: Record<string, any>) => void }) => void} open
 * @property {() => void} close
 */
/** @typedef {{ id: string, ack: number, stitch?: number, answer: (message: Record<string, any>) => void }} Poll */

class HubClient {
  #count = 0
  #isUp = false
  /**
   * @type {Map<number, { resolve: (answer: Record<string, any>) => void, reject: (error: Error) => void,
   *   timer: NodeJS.Timeout }>}
   */
  #calls = new Map()
  /** @type {Map<number, Poll>} */
  #polls = new Map()
  /** @type {(() => void)[]} */
  #waiting = []

  /** @param {Wire} wire */
  constructor (wire) {
    this.wire = wire
    wire.open({
      up: () => this.#up(),
      down: () => this.#down(),
      message: message => this.#receive(message)
    })
  }

  /** Resolves when the hub is reached. @returns {Promise<void>} */
  async up () {
    if (this.#isUp) return
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the hub is not reached')), CONNECT_MS)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve(undefined)
      })
    })
  }

  /**
   * @param {'join' | 'leave' | 'throw' | 'stats'} op
   * @param {Record<string, any>} [fields]
   * @returns {Promise<Record<string, any>>} its answer, which has an `error` where the hub refuses
   * @throws {Error} the hub is not reached, or has not answered; it may have done it
   */
  async call (op, fields) {
    await this.up()
    const call = ++this.#count
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(call, 'the hub does not answer'), ANSWER_MS)
      this.#calls.set(call, { resolve, reject, timer })
      this.wire.send({ op, call, ...fields })
    })
  }

  /** @param {Poll} poll @returns {number} for unpark() */
  park (poll) {
    const number = ++this.#count
    this.#polls.set(number, poll)
    if (this.#isUp) this.#send(number, poll)
    return number
  }

  /** The poll needs no answer any more. @param {number} number */
  unpark (number) {
    const poll = this.#polls.get(number)
    if (!poll) return // it has been answered
    this.#polls.delete(number)
    if (this.#isUp) this.wire.send({ op: 'unpark', id: poll.id, poll: number })
  }

  /** @param {number} number @param {Poll} poll */
  #send (number, { id, ack, stitch }) {
    this.wire.send({ op: 'poll', id, ack, poll: number, stitch })
  }

  #up () {
    this.#isUp = true
    for (const [number, poll] of this.#polls) this.#send(number, poll)
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #down () {
    this.#isUp = false
    for (const call of this.#calls.keys()) this.#fail(call, 'the connection to the hub was lost')
  }

  /** @param {number} number @param {string} why */
  #fail (number, why) {
    const call = this.#calls.get(number)
    this.#calls.delete(number)
    clearTimeout(call?.timer)
    call?.reject(new Error(why))
  }

  /** @param {Record<string, any>} message */
  #receive ({ call: number, ...message }) {
    if (number === undefined) {
      const poll = this.#polls.get(message.poll)
      this.#polls.delete(message.poll)
      return poll?.answer(message)
    }
    const call = this.#calls.get(number)
    this.#calls.delete(number)
    clearTimeout(call?.timer)
    call?.resolve(message)
  }
}

module.exports = { HubClient }
