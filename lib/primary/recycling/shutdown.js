'use strict'

/**
 * The end of a fleet. First the addresses are given up, then keep-alive clients are told to close: in the other order
 * they would come back at once, into a queue that is just being closed.
 */

const { drainAndRetire } = require('../workers/worker-actions')

const REAP_MS = 1000
const ANSWER_MS = 1000

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

class Shutdown {
  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('../sockets/listening-sockets').ListeningSockets} deps.listeningSockets
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   */
  constructor ({ options, fleet, listeningSockets, record }) {
    this.options = options
    this.fleet = fleet
    this.listeningSockets = listeningSockets
    this.record = record
  }

  /** Resolves when every worker is gone. */
  async run () {
    await this.#giveUpAddresses()
    await Promise.all(this.fleet.all().map(handle => handle.state === 'draining' ? this.#hasten(handle) : this.#drain(handle)))
  }

  /** Cuts what is in flight. */
  hurry () {
    for (const handle of this.fleet.all()) {
      handle.send('drain', { reason: 'stop', deadlineMs: 0, lingerMs: 0, handoff: false })
      setTimeout(() => handle.kill('SIGKILL'), this.options.killTimeoutMs).unref()
    }
  }

  /** A worker that boots may hold an address too, and one that has just been told to drain may not have got round to it. */
  async #giveUpAddresses () {
    const shut = Promise.all(this.fleet.all().map(async handle => {
      const answer = handle.next(['shut', 'exit'], ANSWER_MS)
      if (handle.hasEntered) {
        handle.send('shut')
      } else {
        if (handle.state !== 'draining') handle.become('draining')
        handle.kill('SIGKILL')
      }
      await answer
    }))
    const last = await this.listeningSockets.closeAll(shut)
    const serving = this.fleet.serving()
    for (const [i, { key, client }] of last.entries()) {
      const able = serving.filter(handle => handle.addresses.has(key))
      if (able.length > 0) able[i % able.length].send('accept', { key }, client, () => client.close())
      else client.close()
    }
  }

  /** Somebody has it in hand already; it is told to close what is idle. @param {WorkerHandle} handle */
  async #hasten (handle) {
    const { drainTimeoutMs, killTimeoutMs, stopLingerMs: lingerMs } = this.options
    const gone = handle.next(['exit'], drainTimeoutMs + killTimeoutMs + REAP_MS)
    handle.send('drain', { reason: 'stop', deadlineMs: drainTimeoutMs, lingerMs, handoff: false })
    await gone
  }

  /** @param {WorkerHandle} handle */
  async #drain (handle) {
    handle.reason ??= 'stop'
    const { account, drainMs } = await drainAndRetire(handle, 'stop', { ...this.options, handoff: false }, this.record, this.options.stopLingerMs)
    this.record('stopped', { slot: handle.slot, pid: null, oldPid: handle.pid, reason: 'stop', ...account, drainMs })
  }
}

module.exports = { Shutdown }
