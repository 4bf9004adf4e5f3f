'use strict'

/**
 * A running fleet, as a drill uses it: recycles slots and follows the journal through the control socket. The fleet
 * runs on after the drill.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../../core/errors')
const { connect, findFleet } = require('../../control/client')
const { isChild, whyNotKill } = require('./worker-processes')

const MOST_LINES = 1000

/** Emits `event` with every journal line, and `stopped` when the fleet is gone. */
class RemoteFleet extends EventEmitter {
  #hasLeft = false
  #hasServed = false
  /** Requests that each worker had begun before the drill, by pid. @type {Map<number, number>} */
  #before

  /**
   * @param {import('../../control/client').Client} client @param {string} path of the control socket
   * @param {Record<string, any>} status
   * @param {{ isFromStart?: boolean }} [how] also the earlier lines of the journal of this primary
   */
  constructor (client, path, { pid, workers }, { isFromStart = false } = {}) {
    super()
    this.client = client
    this.path = path
    /** The primary's. */
    this.pid = pid
    this.#before = new Map(workers.map((/** @type {any} */ { pid, requests }) => [pid, requests]))
    const gone = () => { if (!this.#hasLeft) this.emit('stopped', null) }
    client.follow(line => {
      if (line.event === 'worker.sample') this.#note(line)
      this.emit('event', line)
    }, { last: isFromStart ? MOST_LINES : 0 }).then(gone, gone)
  }

  /**
   * @param {{ name?: string | null, control?: string | null }} which
   * @throws {RecycleError} RECYCLE_NO_FLEET, RECYCLE_NO_ANSWER, RECYCLE_SEVERAL_FLEETS
   */
  static async open (which) {
    const { path } = await findFleet(which)
    const client = await connect(path)
    return new RemoteFleet(client, path, await client.call('status'))
  }

  async ready () {}

  /** The output of `recycle status --json`. */
  async status () {
    return this.client.call('status')
  }

  /** @param {number} slot */
  async recycle (slot) {
    const { done: [line] } = await this.client.call('recycle', { target: slot })
    return line
  }

  /**
   * @throws {RecycleError} RECYCLE_BAD_USAGE where its workers cannot be killed from here
   * @param {string} option that asks for it
   */
  async mayKill (option) {
    const { workers } = await this.status()
    const why = whyNotKill({ path: this.path, pid: this.pid, workers })
    if (why !== null) throw new RecycleError('RECYCLE_BAD_USAGE', { sentence: `${option} cannot kill workers of this fleet: ${why}` })
  }

  /** @param {number} pid of a worker, by its latest status @throws {Error} it is none any more */
  kill (pid) {
    if (!isChild(pid, this.pid)) throw new Error(`process ${pid} is no worker`)
    process.kill(pid, 'SIGKILL')
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
