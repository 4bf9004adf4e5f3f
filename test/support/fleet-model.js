'use strict'

/**
 * What happens to a planned fleet: workers come up, die, are condemned and have drained; faults and commands. A test says what, and when.
 */

const assert = require('node:assert')
const { plan } = require('../../lib/core/plan')
const { PlannedFleet, become, firstSlots, transitionsSeen, ROUNDS } = require('./planned-fleet')

const TASKS = [null, 'collect', 'heapdump']
const TASK_STEP = 7 // so many picks in a row have the same task

/** @param {readonly number[]} slots @param {number} by at the lowest free numbers */
const grown = (slots, by) => [...slots, ...firstSlots(slots.length + by).filter(slot => !slots.includes(slot)).slice(0, by)].sort((a, b) => a - b)

class FleetModel extends PlannedFleet {
  /** The picks by which an event happens to each of those that it can happen to. @param {string} type @returns {number[]} */
  picks (type) {
    const upTo = (/** @type {number} */ count, from = 0) => Array.from({ length: count }, (_, i) => from + i)
    const states = (/** @type {string[]} */ ...states) => this.list().filter(({ incumbent }) => states.includes(incumbent?.state)).length
    switch (type) {
      case 'comesUp': case 'diesEarly': return upTo(this.#starting().length)
      case 'drained': return upTo(this.#leaving().length)
      case 'crash': return upTo(states('ready', 'out-of-rotation'))
      case 'condemn': case 'overHard': {
        const ready = this.list().filter(({ incumbent }) => incumbent?.state === 'ready')
        return TASKS.flatMap((_, task) => upTo(TASK_STEP, task * TASK_STEP).slice(0, ready.length)).filter(pick => ready[pick % ready.length].incumbent.reason === null)
      }
      case 'look': return upTo(this.list().some(({ incumbent }) => this.#isOld(incumbent)) ? 1 : 0)
      case 'collected': return upTo(2 * Math.min(1, states('out-of-rotation')))
      default: throw new Error(type)
    }
  }

  /** @param {string} type @param {number} pick which process, slot, number or time, by the type */
  happen (type, pick) {
    const of = (/** @type {any[]} */ list) => list[pick % list.length]
    const incumbents = this.list().filter(({ incumbent }) => incumbent !== null)
    const ready = incumbents.filter(({ incumbent }) => incumbent.state === 'ready')
    switch (type) {
      case 'advance': this.now += pick; break
      case 'scale': this.desired = { ...this.desired, slots: firstSlots(pick) }; break
      case 'grow': this.desired = { ...this.desired, slots: grown(this.desired.slots, pick % 4 + 1) }; break
      case 'shrink': { // any but the first
        const { slots } = this.desired
        if (slots.length > 2) this.desired = { ...this.desired, slots: slots.filter(slot => slot !== slots[1 + pick % (slots.length - 1)]) }
        break
      }
      case 'reload':
        this.desired = { ...this.desired, generation: this.desired.generation + 1 }
        break
      case 'look': this.#condemnOld(); break // the sampler's
      case 'condemn': case 'overHard': {
        const { incumbent } = of(ready) ?? {}
        if (!incumbent || incumbent.reason !== null) break
        const isOverHard = type === 'overHard'
        Object.assign(incumbent, { reason: isOverHard ? 'hard-rss' : 'rss', condemnedAt: this.now, bytes: pick, isOverHard, task: TASKS[Math.floor(pick / TASK_STEP) % 3] })
        break
      }
      case 'memory': this.memory = pick === 0 ? null : { limitBytes: 100, usedBytes: 5 * pick, freshBytes: pick % 3 ? 20 : null }; break
      case 'grows': {
        const { incumbent } = of(ready) ?? {}
        if (incumbent) incumbent.crossesAt = this.now + 100 * pick
        break
      }
      case 'freshOverBudget': of(this.list())?.fresh.failed(this.now); break
      case 'collected': {
        const { incumbent } = incumbents.find(({ incumbent }) => incumbent.state === 'out-of-rotation') ?? {}
        if (incumbent) become(incumbent, 'ready', { task: null, ...pick % 2 ? { reason: null } : {} })
        break
      }
      case 'crash': { // of a worker that serves, or is out of rotation for a while
        const slot = of(incumbents.filter(({ incumbent }) => incumbent.state !== 'spawning'))
        if (slot) this.#crashed(slot, 'incumbent')
        break
      }
      case 'comesUp': {
        const starting = this.#starting()
        if (starting.length > 0) of(starting).comesUp()
        break
      }
      case 'diesEarly': {
        const starting = this.#starting()
        if (starting.length > 0) of(starting).dies()
        break
      }
      case 'drained': {
        const leaving = this.#leaving()
        if (leaving.length > 0) of(leaving)()
        break
      }
    }
  }

  /** @param {any} slot @param {'incumbent' | 'successor'} which */
  #crashed (slot, which) {
    become(slot[which], 'crashed')
    slot[which] = null
    if (which === 'incumbent') slot.hasCrashed = true
  }

  #isOld = (/** @type {any} */ worker) => worker?.state === 'ready' && worker.generation < this.desired.generation && worker.reason === null

  #condemnOld () {
    for (const { incumbent } of this.list()) if (this.#isOld(incumbent)) Object.assign(incumbent, { reason: 'reload', condemnedAt: this.now })
  }

  /** Lets one event happen to one worker. @param {'comesUp' | 'diesEarly' | 'drained' | 'crash'} type @param {any} worker @returns {boolean} false: it cannot be, in this state */
  happenTo (type, worker) {
    if (type === 'crash') {
      const slot = this.list().find(({ incumbent }) => incumbent === worker)
      if (slot) this.#crashed(slot, 'incumbent')
      return slot !== undefined
    }
    const found = type === 'drained' ? this.#leaving().find(gone => gone.worker === worker) : this.#starting().find(starting => starting.worker === worker)
    if (!found) return false
    if (typeof found === 'function') found()
    else found[type === 'comesUp' ? 'comesUp' : 'dies']()
    return true
  }

  /** @returns {{ worker: any, comesUp: () => void, dies: () => void }[]} */
  #starting () {
    const failed = (/** @type {any} */ slot) => slot.boots.failed(this.now)
    const comesUp = (/** @type {any} */ slot, /** @type {any} */ worker) => {
      slot.isNew = slot.hasCrashed = false
      slot.boots.succeeded()
      return become(worker, 'ready')
    }
    return [
      ...this.list().filter(({ incumbent }) => incumbent?.state === 'spawning').map(slot => ({
        worker: slot.incumbent,
        comesUp: () => {
          comesUp(slot, slot.incumbent)
          if (slot.leaving.length === 0) slot.recycle = null
        },
        dies: () => {
          failed(slot)
          this.#crashed(slot, 'incumbent')
          if (slot.leaving.length === 0) slot.recycle = null
        }
      })),
      ...this.list().filter(({ successor }) => successor !== null).map(slot => ({
        worker: slot.successor,
        comesUp: () => {
          if (slot.incumbent) this.leave(slot)
          slot.incumbent = comesUp(slot, slot.successor)
          slot.successor = null
          if (slot.leaving.length === 0) slot.recycle = null
        },
        dies: () => {
          failed(slot)
          this.#crashed(slot, 'successor')
          slot.recycle = null
        }
      })),
      ...this.standbys.filter(({ state }) => state === 'spawning').map(standby => ({
        worker: standby,
        comesUp: () => become(standby, 'standby'),
        dies: () => {
          become(standby, 'crashed')
          this.standbys.splice(this.standbys.indexOf(standby), 1)
          this.standbyBoots.failed(this.now)
        }
      }))
    ]
  }

  /** @returns {((() => void) & { worker: any })[]} */
  #leaving () {
    return [
      ...this.list().flatMap(slot => slot.leaving.map((/** @type {any} */ worker) => Object.assign(() => {
        slot.leaving.splice(slot.leaving.indexOf(become(worker, 'retired')), 1)
        if (slot.recycle === null || slot.leaving.length > 0) return
        if (slot.recycle.how === 'surge') slot.recycle = slot.successor ? slot.recycle : null
        else if (slot.incumbent === null) slot.incumbent = this.start(slot.slot)
      }, { worker }))),
      ...this.standbys.filter(({ state }) => state === 'draining').map(standby => Object.assign(() => {
        become(standby, 'retired')
        this.standbys.splice(this.standbys.indexOf(standby), 1)
      }, { worker: standby }))
    ]
  }

  /** Faults are over: what starts comes up, what leaves goes, and time passes. Then all is as desired. */
  converge () {
    if (this.desired.standbys > 0) this.memory = null // without a standby, a fleet converges without room, too
    for (let round = 0; round < ROUNDS; round++) {
      for (const { comesUp } of this.#starting()) comesUp()
      for (const gone of this.#leaving()) gone()
      for (const { incumbent } of this.list()) {
        if (incumbent?.state === 'out-of-rotation') become(incumbent, 'ready', { task: null })
      }
      this.#condemnOld()
      this.settle()
      const { wakeAt } = plan(this.facts(), this.desired, this.now)
      if (wakeAt < Infinity) this.now = wakeAt
      if (this.isAsDesired() && wakeAt === Infinity) return
    }
    assert.fail(`it does not converge: ${JSON.stringify(this.facts())} of ${JSON.stringify(this.desired)} at ${this.now}`)
  }
}

module.exports = { FleetModel, firstSlots, transitionsSeen }
