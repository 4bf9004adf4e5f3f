'use strict'

/**
 * The part of a successor's fleet: its workers boot and stand by, each in its slot. When this primary is to lead,
 * they are called to serve, all at once.
 */

const { boundsOf } = require('../../core/container-budget')
const { Part } = require('../part')
const { SUCCESSION } = require('../../features')
const { RecycleError } = require('../../core/errors')

const PATIENCE = 3 // workers of a slot that die in a row

/**
 * @typedef {{ takeover: import('./takeover').Takeover, lifecycle: import('../workers/lifecycle').Lifecycle, adoption:
 *   import('../adoption/adoption').Adoption, ledger: import('../handoff/ledger').HandoffLedger, legacy:
 *   import('../legacy').Legacy }} More
 */

/** Emits `lead` as this primary begins to run the fleet, `serving` when its workers accept. @extends {Part<More>} */
class Succession extends Part {
  /** @type {Promise<unknown>} */
  #operated = Promise.resolve()
  /** How many workers the predecessor has been told to have; null: as its options say. @type {number | null} */
  #asked = null

  /** @param {import('../part').Deps & More} given */
  constructor (given) {
    super(given)
    const { takeover, fleet, features, adoption, ledger, listeningSockets, tasks, until } = given
    takeover.on('begin', ({ workers, generation }) => {
      if (generation !== undefined) fleet.rollout.follow(generation)
      this.#asked = workers
    })
    takeover.on('lead', ({ workers, isPinned = false }) => tasks.run('lead', () => {
      fleet.isPinned = isPinned
      return this.#lead(workers)
    }))
    takeover.on('sole', () => tasks.run('sole', async () => {
      try {
        // The predecessor may have died before these workers have asked for their sockets
        await until(() => fleet.isComplete)
        listeningSockets.closeUnused()
      } catch {} // the fleet stops, and closes all
    }))
    takeover.on('sole', how => adoption.begin(how))
    takeover.on('ended', () => this.#giveUp())
    ledger.connectPeer(takeover.predecessor)
    features.owners?.succeed(takeover)
    takeover.greet(given)
  }

  /** This primary leads when that has resolved, no earlier. @param {Promise<unknown>} opened what operates the fleet */
  awaits (opened) {
    this.#operated = opened
  }

  /** Boots the workers. */
  async prepare () {
    await this.takeover.begun
    if (this.takeover.why !== null) return this.#giveUp() // before there was this object
    this.fleet.resize(this.options.workers)
    this.#scale(this.#asked)
    const isOver = () => this.takeover.isLeading || this.#failure() !== null
    try {
      await this.until(() => {
        const booted = this.fleet.staying().filter(({ incumbent }) => incumbent?.state === 'standby').length
        this.takeover.booted(booted, this.fleet.desired)
        return isOver() || booted === this.fleet.desired
      })
      await this.#operated
    } catch {
      return // the fleet has been stopped meanwhile
    }
    const failure = this.#failure()
    if (!this.takeover.isLeading && failure) this.abandon(new RecycleError('RECYCLE_APP_DIES', failure))
    else this.takeover.prepared()
  }

  #giveUp () {
    this.abandon(new RecycleError('RECYCLE_TAKEOVER_ENDED', { why: this.takeover.why }))
  }

  /**
   * @returns {{ deaths: number, how: string } | null} why the workers do not boot: one has died too often, or has not
   *   listened in time
   */
  #failure () {
    const failing = this.fleet.staying()
      .find(({ unready, boots }) => unready !== null && (!unready.hasCrashed || boots.failures >= PATIENCE))
    return failing?.unready ? { deaths: failing.boots.failures, how: failing.unready.why.replace(/^it /, '') } : null
  }

  /** @param {number | null} asked */
  #scale (asked) {
    const to = asked ?? this.options.workers
    if (to === this.fleet.desired) this.changed()
    else this.resize(to, SUCCESSION.reason)
  }

  /** @param {number | null} workers */
  async #lead (workers) {
    // Where the predecessor has died, nothing newer is known
    this.#scale(workers ?? (boundsOf(this.options) ? this.#asked : null))
    this.record(SUCCESSION.events.leads, { pid: process.pid, oldPid: this.takeover.pid, node: process.version })
    this.emit('lead')
    await Promise.all(this.fleet.all().filter(({ state, slot }) => state === 'standby' && slot !== null).map(handle =>
      this.lifecycle.call(handle)))
    this.changed()
    this.emit('serving')
    const serving = this.fleet.serving()
    if (serving.length === 0) return
    this.takeover.serving({
      addresses: this.fleet.commonAddresses(), workers: serving.map(({ slot, pid }) => ({ slot: Number(slot), pid }))
    })
  }
}

module.exports = { Succession }
