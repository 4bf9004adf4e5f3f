'use strict'

/**
 * What happens to a planned fleet: workers come up, die, are condemned and have drained; faults and commands. A test
 * says what, and when.
 */

const assert = require('node:assert')
const { plan } = require('../../lib/core/plan')
const { PlannedFleet, become, firstSlots, transitionsSeen, ROUNDS } = require('./planned-fleet')

const TASKS = [null, 'relief', 'before-recycle']
const TASK_STEP = 7 // so many picks in a row have the same task

/** @param {readonly number[]} slots @param {number} by at the lowest free numbers */
const grown = (slots, by) =>
  [...slots, ...firstSlots(slots.length + by).filter(slot => !slots.includes(slot)).slice(0, by)].sort((a, b) => a - b)

class FleetModel extends PlannedFleet {
  /**
   * The picks by which an event happens to each of those that it can happen to.
   *
   * @param {string} type
   * @returns {number[]}
   */
  picks (type) {
    const upTo = (/** @type {number} */ count, from = 0) => Array.from({ length: count }, (_, i) => from + i)
    const states = (/** @type {string[]} */ ...states) =>
      this.list().filter(({ incumbent }) => states.includes(incumbent?.state)).length
    switch (type) {
      case 'comesUp': case 'diesEarly': case 'givenUp': case 'drained': case 'diesLeaving': case 'crash': return upTo(this.#to(type).length)
      case 'condemn': case 'overHard': {
        const ready = this.list().filter(({ incumbent }) => incumbent?.state === 'ready')
        return TASKS.flatMap((_, task) => upTo(TASK_STEP, task * TASK_STEP).slice(0, ready.length))
          .filter(pick => ready[pick % ready.length].incumbent.reason === null)
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
        if (slots.length > 2) {
          this.desired = { ...this.desired, slots: slots.filter(slot => slot !== slots[1 + pick % (slots.length - 1)]) }
        }
        break
      }
      case 'reload':
        this.desired = { ...this.desired, generation: this.desired.generation + 1 }
        for (const { incumbent } of this.list()) if (incumbent) incumbent.canWait = false
        break
      case 'look': this.#condemnOld(); break // the sampler's
      case 'condemn': case 'overHard': {
        const { incumbent } = of(ready) ?? {}
        if (!incumbent || incumbent.reason !== null) break
        const isOverHard = type === 'overHard'
        Object.assign(incumbent, { reason: isOverHard ? 'hard-rss' : 'rss', condemnedAt: this.now, bytes: pick, isOverHard, task: TASKS[Math.floor(pick / TASK_STEP) % 3], canWait: true })
        break
      }
      case 'memory': this.memory = pick === 0 ? null : { limitBytes: 100, usedBytes: 5 * pick, freshBytes: pick % 3 ? 20 : null }; break
      case 'freshOverBudget': of(this.list())?.fresh.failed(this.now); break
      case 'collected': {
        const { incumbent } = incumbents.find(({ incumbent }) => incumbent.state === 'out-of-rotation') ?? {}
        if (incumbent) become(incumbent, 'ready', { task: null, ...pick % 2 ? { reason: null, canWait: false, isWaiting: false } : {} })
        break
      }
      case 'comesUp': case 'diesEarly': case 'givenUp': case 'drained': case 'diesLeaving': case 'crash': of(this.#to(type))?.happen()
    }
  }

  /** It has served. @param {any} slot */
  #crashed (slot) {
    become(slot.incumbent, 'crashed')
    slot.incumbent = null
    slot.hasCrashed = true
  }

  /** It has not become ready. @param {any} slot @param {any} worker @param {'retired' | 'crashed'} end */
  #failed (slot, worker, end) {
    const which = slot.incumbent === worker ? 'incumbent' : 'successor'
    const wasStandby = worker.state === 'standby'
    become(worker, end)
    slot[which] = null
    if (wasStandby) { // that was called: it says nothing of the next one
      slot[which] = this.obtain(slot.slot)
      return
    }
    slot.boots.failed(this.now)
    if (which === 'incumbent') slot.hasCrashed = true
    if (which === 'successor' || slot.leaving.length === 0) slot.recycle = null
  }

  #isOld = (/** @type {any} */ worker) => worker?.state === 'ready' && worker.generation < this.desired.generation && worker.reason === null

  #condemnOld () {
    for (const { incumbent } of this.list()) if (this.#isOld(incumbent)) Object.assign(incumbent, { reason: 'reload', condemnedAt: this.now })
  }

  /**
   * Lets one event happen to one worker.
   *
   * @param {'comesUp' | 'diesEarly' | 'givenUp' | 'drained' | 'diesLeaving' | 'crash'} type @param {any} worker
   * @returns {boolean} false: it cannot be, in this state
   */
  happenTo (type, worker) {
    const found = this.#to(type).find(other => other.worker === worker)
    found?.happen()
    return found !== undefined
  }

  /** Each that this can happen to. @param {string} type @returns {{ worker: any, happen: () => void }[]} */
  #to (type) {
    switch (type) {
      case 'comesUp': return this.#starting().map(({ worker, comesUp }) => ({ worker, happen: comesUp }))
      case 'diesEarly': return this.#starting().map(({ worker, dies }) => ({ worker, happen: dies }))
      case 'givenUp': return this.#starting().filter(({ worker }) => worker.state === 'spawning').map(({ worker }) => ({ worker, happen: () => { become(worker, 'draining') } }))
      case 'drained': return this.#leaving().map(({ worker, goes }) => ({ worker, happen: () => goes('retired') }))
      case 'diesLeaving': return this.#leaving().map(({ worker, goes }) => ({ worker, happen: () => goes('crashed') }))
      case 'crash': return this.list().filter(({ incumbent }) => ['ready', 'out-of-rotation'].includes(incumbent?.state)).map(slot => ({ worker: slot.incumbent, happen: () => this.#crashed(slot) }))
      default: throw new Error(type)
    }
  }

  /** @returns {{ worker: any, comesUp: () => void, dies: () => void }[]} */
  #starting () {
    const isStarting = (/** @type {any} */ worker) => ['spawning', 'standby'].includes(worker?.state)
    const comesUp = (/** @type {any} */ slot, /** @type {any} */ worker) => {
      if (slot.successor === worker) {
        if (slot.incumbent) this.leave(slot)
        slot.incumbent = worker
        slot.successor = null
      }
      slot.isNew = slot.hasCrashed = false
      slot.boots.succeeded()
      become(worker, 'ready')
      if (slot.leaving.length === 0) slot.recycle = null
    }
    return [
      ...this.list().flatMap(slot => [slot.incumbent, slot.successor].filter(isStarting).map(worker => ({
        worker,
        comesUp: () => comesUp(slot, worker),
        dies: () => this.#failed(slot, worker, 'crashed')
      }))),
      ...this.standbys.filter(({ state }) => state === 'spawning').map(standby => ({
        worker: standby,
        comesUp: () => { become(standby, 'standby') },
        dies: () => this.#standbyGoes(standby, 'crashed', true)
      }))
    ]
  }

  /**
   * Those that drain, and those that were given up.
   *
   * @returns {{ worker: any, goes: (end: 'retired' | 'crashed') => void }[]}
   */
  #leaving () {
    const isDraining = (/** @type {any} */ worker) => worker?.state === 'draining'
    return [
      ...this.list().flatMap(slot => [
        ...slot.leaving.map((/** @type {any} */ worker) => ({
          worker, goes: (/** @type {'retired' | 'crashed'} */ end) => this.#left(slot, worker, end)
        })),
        ...[slot.incumbent, slot.successor].filter(isDraining).map(
          worker => ({ worker, goes: (/** @type {'retired' | 'crashed'} */ end) => this.#failed(slot, worker, end) })
        )
      ]),
      ...this.standbys.filter(isDraining).map(standby => ({
        worker: standby, goes: (/** @type {'retired' | 'crashed'} */ end) => this.#standbyGoes(standby, end, false)
      }))
    ]
  }

  /** @param {any} slot @param {any} worker @param {'retired' | 'crashed'} end */
  #left (slot, worker, end) {
    slot.leaving.splice(slot.leaving.indexOf(become(worker, end)), 1)
    if (slot.recycle === null || slot.leaving.length > 0) return
    if (slot.recycle.how === 'surge') slot.recycle = slot.successor ? slot.recycle : null
    else if (slot.incumbent === null) slot.incumbent = this.obtain(slot.slot)
  }

  /** @param {any} standby @param {'retired' | 'crashed'} end @param {boolean} hasFailed */
  #standbyGoes (standby, end, hasFailed) {
    become(standby, end)
    this.standbys.splice(this.standbys.indexOf(standby), 1)
    if (hasFailed) this.standbyBoots.failed(this.now)
  }

  /**
   * Faults are over: what starts comes up, what leaves goes, and time passes. Then all is as desired.
   *
   * @param {Set<string>} [known] states from which it comes to that; those on the way are added
   */
  converge (known = new Set()) {
    // Else a fleet converges without room, too
    if (this.desired.standbys > 0 || this.desired.maxUnavailable === 0) this.memory = null
    /** @type {string[]} */
    const passed = []
    const arrive = () => { for (const key of passed) known.add(key) }
    for (let round = 0; round < ROUNDS; round++) {
      const { key } = this
      if (known.has(key)) return arrive()
      passed.push(key)
      for (const { comesUp } of this.#starting()) comesUp()
      for (const { goes } of this.#leaving()) goes('retired')
      for (const { incumbent } of this.list()) {
        if (incumbent?.state === 'out-of-rotation') become(incumbent, 'ready', { task: null })
      }
      this.#condemnOld()
      this.settle()
      const { wakeAt } = plan(this.facts(), this.desired, this.now)
      if (wakeAt < Infinity) this.now = wakeAt
      if (this.isAsDesired() && wakeAt === Infinity) return arrive()
    }
    assert.fail(`it does not converge: ${JSON.stringify(this.facts())} of ${JSON.stringify(this.desired)} at ${this.now}`)
  }
}

module.exports = { FleetModel, firstSlots, transitionsSeen }
