'use strict'

/**
 * Keeps the workers even: tells them the level at which they leave the queue to the others, and has those that are fuller
 * than most give idle connections away; in a rollout, where there are streams, those of the old generation accept no more. Also notices in time when the fleet as a whole runs out of descriptors.
 */

const { FLOOR, leavesToNew, nextLimit, spread } = require('../../core/accept-limit')
const { now } = require('../clock')

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

const LOOK_MS = 250
const SILENT_MS = 1500
const UNEVEN_LOOKS = 4 // in a row, before connections are moved: the beats know by then what the last move has changed
const WARN_AT = 0.8
const BOOT_MS = 1000 // after it is up, a beat may still tell of its boot
const NO_LEVEL = Number.MAX_SAFE_INTEGER

class Balancer {
  #level = FLOOR
  #uneven = 0
  #moved = 0
  #warned = false
  /** Workers of the old generation leave new connections to the others. */
  #isSteering = false
  /** The workers that do not accept, and whether for want of descriptors. @type {Map<WorkerHandle, boolean>} */
  #full = new Map()

  /** @param {import('../parts').Deps & { ledger: import('./ledger').HandoffLedger }} deps */
  constructor ({ options, fleet, record, ledger }) {
    this.options = options
    this.fleet = fleet
    this.record = record
    this.ledger = ledger
    this.timer = setInterval(() => this.#look(), LOOK_MS).unref() // the workers keep the process
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.hear({
      full: ({ isAtCeiling }) => {
        this.#full.set(handle, isAtCeiling)
        this.#raise()
      },
      room: () => this.#full.delete(handle)
    })
    handle.on('ready', () => {
      this.#steer()
      this.#tell(handle)
    })
    handle.on('returned', () => {
      this.#full.delete(handle)
      this.#tell(handle)
      this.#uneven = UNEVEN_LOOKS - 2 // it has none: its share comes back at the second look
    })
    handle.on('exit', () => {
      this.#full.delete(handle)
      this.#steer()
      this.#raise()
    })
  }

  stop () {
    clearInterval(this.timer)
  }

  #look () {
    this.#warn()
    this.#steer()
    if (this.options.schedule !== 'even') return
    this.#raise()
    const serving = this.fleet.serving()
    const gifts = this.options.handoff ? spread(serving.map(handle => handle.latest.lasting)) : []
    const { moved } = this.ledger.totals
    const isMoving = moved !== this.#moved // what a worker that leaves has is on its way: the beats do not know where it will be
    this.#moved = moved
    this.#uneven = gifts.some(count => count > 0) && !isMoving ? this.#uneven + 1 : 0
    if (this.#uneven < UNEVEN_LOOKS) return
    this.#uneven = 0
    serving.forEach((handle, i) => { if (gifts[i] > 0) handle.send('share', { count: gifts[i] }) })
  }

  #raise () {
    if (this.options.schedule !== 'even') return
    const serving = this.fleet.serving().filter(handle => !this.#isSteering || !this.#isStale(handle))
    const at = now()
    const level = nextLimit(this.#level, serving.map(handle => ({
      connections: handle.latest.connections,
      isFull: this.#full.has(handle),
      isAtCeiling: this.#full.get(handle) === true,
      isResponsive: at - handle.heardAt < SILENT_MS
    })))
    if (level === this.#level) return
    this.#level = level
    this.#full.clear() // a worker that is still full at the new level says so again
    for (const handle of serving) this.#tell(handle)
  }

  #steer () {
    const serving = this.fleet.serving()
    const isSteering = leavesToNew(serving.map(handle => {
      const { latest: { streams, elu }, upSince } = handle
      return { isStale: this.#isStale(handle), streams, elu: now() - Number(upSince) < BOOT_MS ? null : elu }
    }))
    if (isSteering === this.#isSteering) return
    this.#isSteering = isSteering
    for (const handle of serving) this.#send(handle) // at its end, too: those of a rollout that was stopped accept again
  }

  /** A rollout is to replace it. @param {WorkerHandle} handle */
  #isStale ({ generation }) {
    return this.fleet.rollout.requested(generation) !== null
  }

  /** @param {WorkerHandle} handle */
  #tell (handle) {
    if (this.options.schedule === 'even' || this.#isSteering) this.#send(handle)
  }

  /** @param {WorkerHandle} handle */
  #send (handle) {
    const level = this.options.schedule === 'even' ? this.#level : NO_LEVEL
    handle.send('level', { level: this.#isSteering && this.#isStale(handle) ? 0 : level })
  }

  #warn () {
    const serving = this.fleet.serving().filter(handle => handle.latest.ceiling !== null)
    const capacity = serving.reduce((sum, handle) => sum + (handle.latest.ceiling ?? 0), 0)
    const connections = serving.reduce((sum, handle) => sum + handle.latest.connections, 0)
    if (serving.length === 0 || connections < WARN_AT * capacity) {
      this.#warned = false
    } else if (!this.#warned) {
      this.#warned = true
      this.record('fleet.warning', { warning: 'descriptors', connections, capacity, workers: serving.length })
    }
  }
}

module.exports = { Balancer }
