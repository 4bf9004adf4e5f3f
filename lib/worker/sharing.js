'use strict'

/**
 * Gives idle connections away while this worker goes on serving, because the primary finds it has more than its share.
 * Only connections that have proved to last, and have been served before, are worth the journey.
 */

const { performance } = require('node:perf_hooks')
const { Mover } = require('./mover')

const PATIENCE_MS = 2000

class Sharing {
  #until = 0

  /**
   * @param {object} rooms
   * @param {import('./link').Link} rooms.link
   * @param {import('./traffic').Traffic} rooms.traffic
   * @param {import('./lobby').Lobby} rooms.lobby
   * @param {import('./handoff').Handoff} rooms.handoff
   * @param {Set<import('./gate').Gate>} rooms.gates
   */
  constructor (rooms) {
    this.mover = new Mover(rooms, () => this.#onLook(), isWorthIt)
    rooms.link.on({ share: ({ count }) => this.#begin(count) })
  }

  stop () {
    this.mover.quota = 0
    this.mover.end()
  }

  onMoved () {
    this.mover.pump()
  }

  /** @param {number} count what the primary would like to be given away, now */
  #begin (count) {
    this.stop()
    this.mover.begin()
    this.mover.quota = count
    this.#until = performance.now() + PATIENCE_MS
    this.mover.look()
  }

  #onLook () {
    if (this.mover.quota <= 0 || performance.now() > this.#until) this.stop()
  }
}

/** @param {import('./connection').Connection} connection */
function isWorthIt (connection) {
  return connection.idleSince !== null && connection.isLasting(performance.now())
}

module.exports = { Sharing }
