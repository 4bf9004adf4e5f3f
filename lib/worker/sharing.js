'use strict'

/**
 * Gives idle connections away while this worker goes on serving, because the primary finds it has more than its share.
 * Only connections that have proved to last, and have been served before, are worth the journey.
 */

const SWEEP_MS = 100
const PATIENCE_MS = 2000

class Sharing {
  /** How many are still to go. */
  #count = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #until = 0

  /**
   * @param {object} rooms
   * @param {import('./link').Link} rooms.link
   * @param {import('./traffic').Traffic} rooms.traffic
   * @param {import('./lobby').Lobby} rooms.lobby
   * @param {import('./handoff').Handoff} rooms.handoff
   * @param {Set<import('./gate').Gate>} rooms.gates
   */
  constructor ({ link, traffic, lobby, handoff, gates }) {
    this.traffic = traffic
    this.lobby = lobby
    this.handoff = handoff
    this.gates = gates
    const onRest = (/** @type {import('./connection').Connection} */ connection) => { if (isWorthIt(connection)) this.#sweep() }
    this.listen = () => { if (!traffic.listeners('rest').includes(onRest)) traffic.on('rest', onRest) }
    this.unlisten = () => { traffic.removeListener('rest', onRest) }
    link.on({
      share: ({ count }) => {
        this.#count = count
        this.#until = performance.now() + PATIENCE_MS
        clearInterval(this.#timer)
        this.listen()
        this.#timer = setInterval(() => this.#sweep(), SWEEP_MS)
        this.#sweep()
      }
    })
  }

  stop () {
    this.#count = 0
    this.unlisten()
    clearInterval(this.#timer)
  }

  #sweep () {
    if (this.#count <= 0 || performance.now() > this.#until) return this.stop()
    for (const guest of this.lobby.movable) {
      if (this.#count <= 0 || !this.handoff.hasRoom) return
      this.#count--
      this.handoff.offerGuest(guest)
    }
    for (const gate of this.gates) {
      if (!gate.isMovable) continue
      for (const connection of this.traffic.idle(gate)) {
        if (this.#count <= 0 || !this.handoff.hasRoom) return
        if (!isWorthIt(connection)) continue
        this.#count--
        this.handoff.offer(connection)
      }
    }
  }
}

/** @param {import('./connection').Connection} connection */
function isWorthIt (connection) {
  return !connection.isPinned && connection.idleSince !== null && connection.isLasting(performance.now())
}

module.exports = { Sharing }
