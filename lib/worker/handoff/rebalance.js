'use strict'

/**
 * Moves idle connections to siblings while this worker serves, because the primary has found that it has more than its share.
 * Only connections that have been open for a second, and have been served before, are moved.
 */

const { performance } = require('node:perf_hooks')
const { Sender } = require('./sender')

const MAX_MS = 2000

class Rebalance {
  #until = 0

  /**
   * @param {object} deps
   * @param {import('../channel').Channel} deps.channel
   * @param {import('../connections/tracker').ConnectionTracker} deps.tracker
   * @param {import('./inbox').Inbox} deps.inbox
   * @param {import('./handoff').Handoff} deps.handoff
   * @param {Set<import('../accepting/acceptor').Acceptor>} deps.acceptors
   */
  constructor (deps) {
    this.sender = new Sender(deps, () => this.#onLook(), isWorthIt)
    deps.channel.on({ share: ({ count }) => this.#begin(count) })
  }

  stop () {
    this.sender.quota = 0
    this.sender.end()
  }

  onMoved () {
    this.sender.pump()
  }

  /** @param {number} count how many the primary wants moved */
  #begin (count) {
    this.stop()
    this.sender.begin()
    this.sender.quota = count
    this.#until = performance.now() + MAX_MS
    this.sender.look()
  }

  #onLook () {
    if (this.sender.quota <= 0 || performance.now() > this.#until) this.stop()
  }
}

/** @param {import('../connections/connection').Connection} connection */
function isWorthIt (connection) {
  return connection.idleSince !== null && connection.isLasting(performance.now())
}

module.exports = { Rebalance }
