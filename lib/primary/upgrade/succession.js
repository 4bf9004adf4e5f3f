'use strict'

/**
 * What the fleet of a successor does: its workers boot and stand by, each in its slot. When this primary is to lead, they are
 * called to serve, all at once.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../../core/errors')

const PATIENCE = 3 // workers of a slot that die in a row

/** Emits `lead` when this primary begins to run the fleet. */
class Succession extends EventEmitter {
  /** To be awaited before this primary can lead: what operates the fleet. @type {Promise<unknown>} */
  operations = Promise.resolve()

  /**
   * @param {object} deps
   * @param {import('./takeover').Takeover} deps.takeover
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('../workers/lifecycle').Lifecycle} deps.lifecycle
   * @param {import('../sockets/listening-sockets').ListeningSockets} deps.listeningSockets
   * @param {import('../tasks').Tasks} deps.tasks
   * @param {(isSo: () => boolean) => Promise<void>} deps.until
   * @param {() => void} deps.changed
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   * @param {(error: RecycleError) => void} deps.abandon
   */
  constructor ({ takeover, fleet, lifecycle, listeningSockets, tasks, until, changed, record, abandon }) {
    super()
    this.takeover = takeover
    this.fleet = fleet
    this.lifecycle = lifecycle
    this.until = until
    this.changed = changed
    this.record = record
    this.abandon = abandon
    takeover.on('begin', ({ addresses }) => { lifecycle.expected = new Set(addresses) })
    takeover.on('lead', ({ workers }) => tasks.run('lead', () => this.#lead(workers)))
    takeover.on('sole', () => tasks.run('sole', async () => {
      try {
        await until(() => fleet.isComplete) // the predecessor may have died before these workers have asked for their sockets
        listeningSockets.closeUnused()
      } catch {} // the fleet stops, and closes all
    }))
    takeover.on('ended', () => this.#giveUp())
  }

  /** @param {number} workers */
  async prepare (workers) {
    await this.takeover.begun
    if (this.takeover.why !== null) return this.#giveUp() // before there was this object
    this.fleet.desired = workers
    this.changed()
    const isOver = () => this.takeover.isLeading || this.#failure() !== null
    try {
      await this.until(() => {
        const booted = this.fleet.staying().filter(({ incumbent }) => incumbent?.state === 'standby').length
        this.takeover.booted(booted, workers)
        return isOver() || booted === workers
      })
      await this.operations
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

  /** @returns {{ deaths: number, how: string } | null} why the workers do not boot: one has died too often, or has not listened in time */
  #failure () {
    const failing = this.fleet.staying().find(({ unready, boots }) => unready !== null && (!unready.hasCrashed || boots.failures >= PATIENCE))
    return failing?.unready ? { deaths: failing.boots.failures, how: failing.unready.why.replace(/^it /, '') } : null
  }

  /** @param {number | null} workers how many there are to be; null: as by the options */
  async #lead (workers) {
    if (workers !== null) this.fleet.desired = workers
    this.record('fleet.upgraded', { pid: process.pid, oldPid: this.takeover.pid, node: process.version })
    this.emit('lead')
    await Promise.all(this.fleet.all().filter(({ state, slot }) => state === 'standby' && slot !== null).map(handle => this.lifecycle.call(handle)))
    this.changed()
    const serving = this.fleet.serving()
    if (serving.length === 0) return
    this.takeover.serving({ addresses: this.fleet.commonAddresses(), workers: serving.map(({ slot, pid }) => ({ slot: Number(slot), pid })) })
  }
}

module.exports = { Succession }
