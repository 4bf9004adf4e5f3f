'use strict'

/**
 * A fleet without processes: it carries out what lib/core/plan.js says, and checks each step against what the plan
 * promises. What happens to it is in fleet-model.js.
 */

const assert = require('node:assert')
const { plan } = require('../../lib/core/plan')
const { Backoff } = require('../../lib/core/backoff')
const { transition } = require('../../lib/core/state')

const ROUNDS = 400

/** @param {string} state @param {number} generation @returns {any} */
const process = (state, generation) => ({
  state,
  generation,
  reason: null,
  bytes: 0,
  isSampled: true,
  condemnedAt: 0,
  task: null,
  isOverHard: false,
  canWait: false,
  isWaiting: false
})

/** Those that models have gone through, as "ready draining". @type {Set<string>} */
const transitionsSeen = new Set()

/**
 * Through the table of transitions, which throws for any other.
 *
 * @param {any} worker @param {any} state @param {any} [facts]
 */
function become (worker, state, facts) {
  transitionsSeen.add(`${worker.state} ${state}`)
  return Object.assign(worker, { state: transition(worker.state, state) }, facts)
}

/** @param {number} count */
const firstSlots = count => Array.from({ length: count }, (_, slot) => slot)

class PlannedFleet {
  now = 0
  /** Of the container. @type {import('../../lib/core/memory-room').Memory | null} */
  memory = null
  /** By number, in this order. @type {Map<number, any>} */
  slots = new Map()
  /** @type {any[]} */
  standbys = []
  standbyBoots = new Backoff()
  /**
   * Hears of each process that is to start, or to leave.
   *
   * @type {(step: { type: 'starts' | 'leaves', slot: number | null, worker: any }) => void}
   */
  onStep = () => {}

  /** @param {import('../../lib/core/fleet-facts').Desired} desired */
  constructor (desired) {
    this.desired = desired
  }

  get room () {
    return Math.max(this.desired.standbys, this.desired.maxSurge)
  }

  /** @returns {any[]} */
  list () {
    return [...this.slots.values()]
  }

  /** @param {(slot: any) => boolean} [where] */
  serving (where = () => true) {
    return this.list().filter(slot => slot.incumbent?.state === 'ready' && where(slot)).length
  }

  staying = (/** @type {any} */ { slot }) => this.desired.slots.includes(slot)

  /** Processes that start or run beside the desired ones, counted by the model's own facts. */
  beside () {
    const isUsable = (/** @type {any} */ standby) => standby.state === 'standby' && standby.reason === null && standby.generation === this.desired.generation
    return this.list().filter(({ recycle, isNew, incumbent }) => recycle?.how === 'surge' || (isNew && ['spawning', 'standby'].includes(incumbent?.state))).length +
      this.standbys.filter(standby => !isUsable(standby)).length
  }

  /** For one more worker, beside those that boot. */
  hasRoom () {
    if (this.memory === null || this.memory.freshBytes === null) return true
    const booting = this.list().filter(({ recycle, leaving, incumbent }) => (recycle?.how === 'surge' && leaving.length === 0) || incumbent?.state === 'spawning').length
    return this.memory.limitBytes - this.memory.usedBytes >= booting * this.memory.freshBytes
  }

  facts () {
    return {
      slots: this.list().map(({ slot, incumbent, successor, leaving, recycle, isNew, boots, fresh }) => ({
        slot, incumbent, isLeaving: leaving.length > 0 || successor !== null, recycle: recycle?.how ?? null, isReplaced: recycle?.how === 'surge' && successor === null, isNew, bootNotBefore: boots.notBefore, unservedNotBefore: boots.unservedNotBefore, recycleNotBefore: Math.max(boots.notBefore, fresh.notBefore)
      })),
      standbys: this.standbys,
      standbyNotBefore: this.standbyBoots.notBefore,
      memory: this.memory
    }
  }

  /** Carries out the plan of now. @returns {boolean} there was something to do */
  carryOut () {
    const { actions } = plan(this.facts(), this.desired, this.now)
    const standbys = [...this.standbys]
    for (const action of actions) this.#do(action, standbys)
    return actions.length > 0
  }

  /** Carries out plan after plan, until there is nothing to do now. */
  settle () {
    for (let round = 0; this.carryOut(); round++) assert(round < ROUNDS, 'the plan comes to rest')
  }

  /** @param {any} action @param {any[]} standbys */
  #do (action, standbys) {
    const isServed = this.serving() > 0
    const slot = this.slots.get(action.slot)
    switch (action.type) {
      case 'boot': {
        assert(slot === undefined || slot.incumbent === null, 'an empty slot')
        const opened = slot ?? {
          slot: action.slot,
          incumbent: null,
          successor: null,
          leaving: [],
          recycle: null,
          isNew: true,
          boots: new Backoff(),
          fresh: new Backoff()
        }
        if (!slot) this.slots = new Map([...this.slots, [action.slot, opened]].sort(([a], [b]) => a - b))
        opened.incumbent = this.obtain(action.slot)
        if (opened.isNew && isServed) assert(this.beside() <= Math.max(this.desired.maxBoots ?? 1, this.room), 'new slots boot within the surge, or as many as may boot')
        break
      }
      case 'recycle': {
        slot.recycle = { how: action.how }
        if (action.how === 'surge') {
          assert(this.beside() <= this.room, 'recycles within the surge')
          const isLast = this.list().every(other => other === slot || other.recycle === null)
          assert(this.#usableStandby() >= 0 || this.hasRoom() || (isLast && this.desired.maxUnavailable === 0 && !slot.incumbent.canWait), 'none starts where the memory has no room, unless no worker may be missing, and its recycle cannot wait')
          slot.successor = this.obtain(action.slot)
        } else {
          this.leave(slot)
          assert(this.serving(this.staying) >= this.desired.slots.length - this.desired.maxUnavailable, 'never fewer than promised')
        }
        break
      }
      case 'wait':
        assert(this.desired.maxUnavailable === 0 && slot.incumbent.canWait && !slot.incumbent.isWaiting, 'said once')
        slot.incumbent.isWaiting = true
        break
      case 'scale-away':
        assert(!this.staying(slot) && slot.recycle === null)
        assert(slot.incumbent.state !== 'ready' || this.serving(this.staying) > 0, 'the last one that serves stays')
        slot.isNew = true
        this.leave(slot)
        break
      case 'close':
        assert(!this.staying(slot) && slot.incumbent === null && slot.successor === null && slot.leaving.length === 0)
        this.slots.delete(action.slot)
        break
      case 'before-recycle':
        assert(slot.incumbent.task === 'relief' || !slot.incumbent.isOverHard, 'over its hard budget it is recycled at once')
        assert(this.serving() > 1 && !this.list().some(({ incumbent }) => incumbent?.state === 'out-of-rotation'), 'one at a time, and another serves')
        become(slot.incumbent, 'out-of-rotation', { task: 'under way' })
        break
      case 'rejoin':
        assert(!isServed)
        become(slot.incumbent, 'ready', { task: null })
        break
      case 'boot-standby':
        this.standbys.push(this.start(null))
        assert(this.standbys.length <= this.desired.standbys && this.beside() <= this.room, 'standbys within the surge')
        break
      case 'retire-standby':
        become(standbys[action.standby], 'draining')
        break
      default:
        assert.fail(action.type)
    }
  }

  /** The index of a standby that can be called. */
  #usableStandby () {
    return this.standbys.findIndex(({ state, reason, generation }) => state === 'standby' && reason === null && generation === this.desired.generation)
  }

  /** A standby, or else a new process. @param {number} slot */
  obtain (slot) {
    const at = this.#usableStandby()
    return at < 0 ? this.start(slot) : this.standbys.splice(at, 1)[0]
  }

  /** @param {number | null} slot null: a standby */
  start (slot) {
    const worker = process('spawning', this.desired.generation)
    this.onStep({ type: 'starts', slot, worker })
    return worker
  }

  /** @param {any} slot */
  leave (slot) {
    slot.leaving.push(become(slot.incumbent, 'draining'))
    this.onStep({ type: 'leaves', slot: slot.slot, worker: slot.incumbent })
    slot.incumbent = null
  }

  /** A model of the same state, apart from this one. */
  copy () {
    const copy = /** @type {this} */ (new /** @type {any} */ (this.constructor)(this.desired))
    const backoff = (/** @type {any} */ { failures, notBefore, unservedNotBefore }) =>
      Object.assign(new Backoff(), { failures, notBefore, unservedNotBefore })
    const clone = (/** @type {any} */ worker) => worker && { ...worker }
    copy.now = this.now
    copy.memory = this.memory
    copy.slots = new Map(this.list().map(slot => [slot.slot, {
      ...slot,
      incumbent: clone(slot.incumbent),
      successor: clone(slot.successor),
      leaving: slot.leaving.map(clone),
      recycle: clone(slot.recycle),
      boots: backoff(slot.boots),
      fresh: backoff(slot.fresh)
    }]))
    copy.standbys = this.standbys.map(clone)
    copy.standbyBoots = backoff(this.standbyBoots)
    return copy
  }

  /** Equal for states that no plan can tell apart. @returns {string} */
  get key () {
    const ahead = (/** @type {any} */ { failures, notBefore, unservedNotBefore }) => `${failures},${Math.max(0, notBefore - this.now)},${Math.max(0, unservedNotBefore - this.now)}`
    const worker = (/** @type {any} */ worker) => {
      let text = ''
      for (const name in worker) text += `${name === 'condemnedAt' ? worker.reason && this.now - worker.condemnedAt : worker[name]},`
      return text
    }
    const slots = this.list().map(({ slot, incumbent, successor, leaving, recycle, isNew, hasCrashed, boots, fresh }) =>
      `${slot} ${worker(incumbent)} ${worker(successor)} ${leaving.length} ${recycle?.how} ${isNew} ${hasCrashed === true} ${ahead(boots)} ${ahead(fresh)}`)
    return [this.desired.slots, this.desired.generation, JSON.stringify(this.memory), ...slots, ...this.standbys.map(worker), ahead(this.standbyBoots)].join('|')
  }

  /** Processes that are alive. */
  get living () {
    return this.list().reduce((sum, { incumbent, successor, leaving }) =>
      sum + (incumbent ? 1 : 0) + (successor ? 1 : 0) + leaving.length, this.standbys.length)
  }

  isAsDesired () {
    const { slots, generation, standbys } = this.desired
    return this.slots.size === slots.length && this.serving(this.staying) === slots.length &&
      this.list().every(({ incumbent, successor, leaving, recycle }) => incumbent.reason === null &&
        incumbent.generation === generation && successor === null && leaving.length === 0 && recycle === null) &&
      this.standbys.length === standbys && this.standbys.every(standby => standby.state === 'standby' && standby.generation === generation)
  }
}

module.exports = { PlannedFleet, become, firstSlots, transitionsSeen, ROUNDS }
