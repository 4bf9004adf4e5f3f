'use strict'

/**
 * A running fleet, as a drill uses it: recycles slots and follows the journal through the control socket. The fleet runs on
 * after the drill.
 */

const { EventEmitter } = require('node:events')
const { connect, findFleet } = require('../control/client')

/** Emits `event` with every journal line, and `stopped` when the fleet is gone. */
class RemoteFleet extends EventEmitter {
  #hasLeft = false
  #hasServed = false
  /** Requests that each worker had begun before the drill, by pid. @type {Map<number, number>} */
  #before

  /** @param {import('../control/client').Client} client @param {Record<string, any>} status */
  constructor (client, { workers }) {
    super()
    this.client = client
    this.#before = new Map(workers.map((/** @type {any} */ { pid, requests }) => [pid, requests]))
    const gone = () => { if (!this.#hasLeft) this.emit('stopped', null) }
    client.follow(line => {
      if (line.event === 'worker.sample') this.#note(line)
      this.emit('event', line)
    }).then(gone, gone)
  }

  /**
   * @param {{ name?: string | null, control?: string | null }} which
   * @throws {import('../core/errors').RecycleError} RECYCLE_NO_FLEET, RECYCLE_NO_ANSWER, RECYCLE_SEVERAL_FLEETS
   */
  static async open (which) {
    const client = await connect((await findFleet(which)).path)
    return new RemoteFleet(client, await client.call('status'))
  }

  async ready () {}

  /** What `recycle status --json` prints. */
  async status () {
    return this.client.call('status')
  }

  /** @param {number} slot */
  async recycle (slot) {
    const { done: [line] } = await this.client.call('recycle', { target: slot })
    return line
  }

  /** Whether its workers have begun requests since the drill connected. */
  async hasServed () {
    if (this.#hasServed) return true
    const { workers } = await this.status()
    for (const worker of workers) this.#note(worker)
    return this.#hasServed
  }

  /** @param {Record<string, any>} worker */
  #note ({ pid, requests }) {
    this.#hasServed ||= requests > (this.#before.get(pid) ?? 0)
  }

  /** Disconnects; the fleet runs on. */
  async stop () {
    this.#hasLeft = true
    this.client.close()
  }
}

module.exports = { RemoteFleet }
