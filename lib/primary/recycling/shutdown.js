'use strict'

/**
 * The end of a fleet. First the addresses are given up, then keep-alive clients are told to close: in the other order
 * they would come back at once, into a queue that is just being closed.
 */

const { now } = require('../clock')
const { kill, leave } = require('../workers/retirement')
const { Part } = require('../part')
/** @import { WorkerHandle } from '../workers/worker-handle' */

const ANSWER_MS = 1000

class Shutdown extends Part {
  deadlineMs = this.options.stopTimes.drainMs

  /** Resolves when every worker is gone. */
  async run () {
    const began = now()
    await this.tasks.run('stop', () => this.#giveUpAddresses())
    // A worker that is blocked takes a second of it
    if (this.options.stopTimeoutMs !== null) this.deadlineMs = Math.max(0, this.deadlineMs - (now() - began))
    await this.#retireAll()
  }

  /** Cuts what is in flight. */
  hurry () {
    this.deadlineMs = 0
    this.#retireAll()
  }

  #retireAll () {
    return Promise.all(this.fleet.all().map(handle => this.tasks.run('stop', () => this.#retire(handle))))
  }

  /**
   * A worker that boots may hold an address too, and one that has just been told to drain may not have got round to it.
   */
  async #giveUpAddresses () {
    const shut = Promise.all(this.fleet.all().map(async handle => {
      if (handle.hasEntered) return handle.call('shut', {}, ANSWER_MS)
      await kill(handle, 'unstarted', this.features)
    }))
    const last = await this.listeningSockets.closeAll(shut)
    const serving = this.fleet.serving()
    for (const [i, { key, client }] of last.entries()) {
      const able = serving.filter(handle => handle.addresses.has(key))
      if (able.length > 0) able[i % able.length].order('accept', { key }, client, () => client.close())
      else client.close()
    }
  }

  /** A retirement under way is hurried; its account goes to the recycle that began it. @param {WorkerHandle} handle */
  async #retire (handle) {
    const isOurs = handle.state !== 'draining'
    handle.condemnation.dismiss('stop')
    const { stopLingerMs: lingerMs, stopTimes: { killMs: killTimeoutMs } } = this.options
    const times = { deadlineMs: this.deadlineMs, lingerMs, killTimeoutMs }
    const { account, drainMs } = await leave(handle, { why: 'stop', times, to: 'none' }, this)
    if (isOurs) {
      this.record('stopped', { slot: handle.slot, pid: null, oldPid: handle.pid, reason: 'stop', ...account, drainMs })
    }
  }
}

module.exports = { Shutdown }
