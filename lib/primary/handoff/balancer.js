'use strict'

/**
 * Keeps the workers even: tells them the limit at which they leave the queue to the others, and has those that are
 * busier or fuller than most give connections away, or those that are to rest; in a rollout, where there are streams,
 * those of the old generation accept no more. Also notices in time when the fleet as a whole runs out of descriptors.
 */

const { FLOOR, leavesToNew, nextLimit } = require('../../core/accept-limit')
const { every } = require('../../native/every')
const { Gathering, restingOf } = require('../../core/gathering')
const { MOST_STREAMS, giftsOf, isGift } = require('../../core/sharing')
const { now } = require('../clock')
const { Part } = require('../part')
const { boots, isSilent } = require('./loads')
/** @import { WorkerHandle } from '../workers/worker-handle' */

const LOOK_MS = 500 // as beats come
const UNEVEN_LOOKS = 2 // in a row, before connections are moved: the beats know by then what the last move has changed
const WARN_AT = 0.8
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** @extends {Part<{ ledger: import('./ledger').HandoffLedger }>} */
class Balancer extends Part {
  #limit = FLOOR
  #uneven = 0
  #moved = 0
  #gathering = new Gathering()
  /** Workers of the old generation leave new connections to the others. */
  #isSteering = false
  /** The workers that do not accept, and whether for want of descriptors. @type {Map<WorkerHandle, boolean>} */
  #full = new Map()
  stop = every(LOOK_MS, () => this.#look())

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.hear({
      full: ({ isAtCeiling, isOver }) => {
        if (isOver) return this.#full.delete(handle)
        this.#full.set(handle, isAtCeiling)
        this.#raise()
      }
    })
    handle.on('ready', () => {
      this.#steer()
      this.#tell(handle)
    })
    handle.on('returned', () => {
      this.#full.delete(handle)
      this.#tell(handle)
      this.#uneven = UNEVEN_LOOKS - 1 // it has none: one look is enough
    })
    handle.on('exit', () => {
      this.#full.delete(handle)
      if (this.ledger.loads.resting.size > 0) this.#gather(this.fleet.serving())
      this.#steer()
      this.#raise()
    })
  }

  #look () {
    this.#warn()
    this.#steer()
    if (this.options.schedule !== 'even') return
    this.#raise()
    if (this.options.handoff) this.#share(this.fleet.serving())
  }

  /** @param {WorkerHandle[]} serving */
  #share (serving) {
    const { totals: { moved }, loads } = this.ledger
    // Connections of a worker that leaves are on their way: no beat counts them yet
    const isMoving = moved !== this.#moved
    this.#moved = moved
    loads.look(serving, isMoving)
    this.#gather(serving)
    const isKnown = serving.every(handle => loads.isKnown(handle))
    const gifts = giftsOf(serving.map(handle => ({
      busy: isKnown ? loads.of(handle) : 0,
      movable: isSilent(handle) ? 0 : handle.latest.movable,
      lasting: handle.latest.lasting,
      isResting: loads.resting.has(handle)
    })))
    this.#uneven = gifts.some(isGift) && !isMoving ? this.#uneven + 1 : 0
    if (this.#uneven < UNEVEN_LOOKS) return
    this.#uneven = 0
    // In a rollout these move once, with their worker
    const streams = serving.some(handle => this.#isStale(handle)) ? 0 : MOST_STREAMS
    serving.forEach((handle, i) => { if (isGift(gifts[i])) handle.order('share', { ...gifts[i], streams }) })
  }

  /** Which workers rest. @param {WorkerHandle[]} serving */
  #gather (serving) {
    const { loads } = this.ledger
    const { cpus } = this.options.sizing
    const isOn = this.#gathering.look(loads.ofFleet(serving), cpus, now())
    const workers = serving.map(handle => ({ handle, busy: loads.of(handle), isResting: loads.resting.has(handle) }))
    const before = loads.resting
    loads.resting = new Set(isOn ? restingOf(workers, cpus).map(({ handle }) => handle) : [])
    for (const handle of serving) if (before.has(handle) !== loads.resting.has(handle)) this.#send(handle)
  }

  #raise () {
    if (this.options.schedule !== 'even') return
    const serving = this.fleet.serving().filter(handle => !this.#leavesQueue(handle))
    const limit = nextLimit(this.#limit, serving.map(handle => ({
      connections: handle.latest.connections,
      isFull: this.#full.has(handle),
      isAtCeiling: this.#full.get(handle) === true,
      isResponsive: !isSilent(handle)
    })))
    if (limit === this.#limit) return
    this.#limit = limit
    this.#full.clear() // a worker that is still full at the new limit says so again
    for (const handle of serving) this.#tell(handle)
  }

  #steer () {
    const serving = this.fleet.serving()
    const isSteering = leavesToNew(serving.map(handle => {
      const { latest: { streams, elu } } = handle
      return { isStale: this.#isStale(handle), streams, elu: boots(handle) ? null : elu }
    }))
    if (isSteering === this.#isSteering) return
    this.#isSteering = isSteering
    // At its end, too: those of a rollout that was stopped accept again
    for (const handle of serving) this.#send(handle)
  }

  /** New connections are for others. @param {WorkerHandle} handle */
  #leavesQueue (handle) {
    return (this.#isSteering && this.#isStale(handle)) || this.ledger.loads.resting.has(handle)
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
    const limit = this.options.schedule === 'even' ? this.#limit : NO_LIMIT
    handle.order('acceptLimit', { limit: this.#leavesQueue(handle) ? 0 : limit })
  }

  #warn () {
    const serving = this.fleet.serving().filter(handle => handle.latest.ceiling !== null)
    const capacity = serving.reduce((sum, handle) => sum + (handle.latest.ceiling ?? 0), 0)
    const connections = serving.reduce((sum, handle) => sum + handle.latest.connections, 0)
    if (serving.length === 0 || connections < WARN_AT * capacity) {
      this.warnings.over('descriptors')
    } else {
      this.warnings.warnOnce({ warning: 'descriptors', connections, capacity, workers: serving.length })
    }
  }
}

module.exports = { Balancer }
