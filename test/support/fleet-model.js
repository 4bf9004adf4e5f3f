'use strict'

/**
 * A fleet without processes: it carries out what lib/core/plan.js says, and checks each step against what the plan
 * promises. Faults and commands come from a test.
 */

const assert = require('node:assert')
const { plan } = require('../../lib/core/plan')
const { Backoff } = require('../../lib/core/backoff')
const { transition } = require('../../lib/core/state')

const ROUNDS = 400
const BOOT_MS = 500
const TASKS = [null, 'collect', 'heapdump']
const TASK_STEP = 7 // so many picks in a row have the same task

/** @param {string} state @param {number} generation @returns {any} */
const process = (state, generation) => ({ state, generation, reason: null, bytes: 0, isSampled: true, condemnedAt: 0, task: null, isOverHard: false, crossesAt: null })

/** Those that models have gone through, as "ready draining". @type {Set<string>} */
const transitionsSeen = new Set()

/** Through the table of transitions, which throws for any other. @param {any} worker @param {any} state @param {any} [facts] */
function become (worker, state, facts) {
  transitionsSeen.add(`${worker.state} ${state}`)
  return Object.assign(worker, { state: transition(worker.state, state) }, facts)
}

/** @param {number} count */
const firstSlots = count => Array.from({ length: count }, (_, slot) => slot)

/** @param {readonly number[]} slots @param {number} by at the lowest free numbers */
const grown = (slots, by) => [...slots, ...firstSlots(slots.length + by).filter(slot => !slots.includes(slot)).slice(0, by)].sort((a, b) => a - b)

class FleetModel {
  now = 0
  /** Of the container. @type {import('../../lib/core/memory-room').Memory | null} */
  memory = null
  /** @type {Map<number, any>} */
  slots = new Map()
  /** @type {any[]} */
  standbys = []
  standbyBoots = new Backoff()
  /** Hears of each process that is to start, or to leave. @type {(step: { type: 'starts' | 'leaves', slot: number | null, worker: any }) => void} */
  onStep = () => {}

  /** @param {import('../../lib/core/plan').Desired} desired */
  constructor (desired) {
    this.desired = desired
  }

  get room () {
    return Math.max(this.desired.standbys, this.desired.maxSurge)
  }

  /** @returns {any[]} */
  list () {
    return [...this.slots.values()].sort((a, b) => a.slot - b.slot)
  }

  /** @param {(slot: any) => boolean} [where] */
  serving (where = () => true) {
    return this.list().filter(slot => slot.incumbent?.state === 'ready' && where(slot)).length
  }

  staying = (/** @type {any} */ { slot }) => this.desired.slots.includes(slot)

  /** Processes that start or run beside the desired ones, counted by the model's own facts. */
  beside () {
    const isUsable = (/** @type {any} */ standby) => standby.state === 'standby' && standby.reason === null && standby.generation === this.desired.generation
    return this.list().filter(({ recycle, isNew, incumbent }) => recycle?.how === 'surge' || (isNew && incumbent?.state === 'spawning')).length +
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
        slot, incumbent, isLeaving: leaving.length > 0, recycle: recycle?.how ?? null, isReplaced: recycle?.how === 'surge' && successor === null, isNew, bootNotBefore: boots.notBefore, recycleNotBefore: Math.max(boots.notBefore, fresh.notBefore)
      })),
      standbys: this.standbys,
      standbyNotBefore: this.standbyBoots.notBefore,
      bootMs: BOOT_MS,
      memory: this.memory
    }
  }

  /** Carries out plan after plan, until there is nothing to do now. */
  settle () {
    for (let round = 0; ; round++) {
      assert(round < ROUNDS, 'the plan comes to rest')
      const { actions } = plan(this.facts(), this.desired, this.now)
      const standbys = [...this.standbys]
      for (const action of actions) this.#do(action, standbys)
      if (actions.length === 0) return
    }
  }

  /** @param {any} action @param {any[]} standbys */
  #do (action, standbys) {
    const isServed = this.serving() > 0
    const slot = this.slots.get(action.slot)
    switch (action.type) {
      case 'boot': {
        assert(slot === undefined || slot.incumbent === null, 'an empty slot')
        const opened = slot ?? { slot: action.slot, incumbent: null, successor: null, leaving: [], recycle: null, isNew: true, boots: new Backoff(), fresh: new Backoff() }
        this.slots.set(action.slot, opened)
        opened.incumbent = this.#start(action.slot)
        if (opened.isNew && isServed) assert(this.beside() <= Math.max(this.desired.maxBoots ?? 1, this.room), 'new slots boot within the surge, or as many as may boot')
        break
      }
      case 'recycle': {
        slot.recycle = { how: action.how }
        if (action.how === 'surge') {
          assert(this.beside() <= this.room, 'recycles within the surge')
          const isLast = this.list().every(other => other === slot || other.recycle === null)
          const at = this.standbys.findIndex(({ state, reason, generation }) => state === 'standby' && reason === null && generation === this.desired.generation)
          assert(at >= 0 || this.hasRoom() || (isLast && this.desired.maxUnavailable === 0), 'none starts where the memory has no room, unless no worker may be missing')
          slot.successor = at < 0 ? this.#start(action.slot) : this.standbys.splice(at, 1)[0]
        } else {
          this.#leave(slot)
          assert(this.serving(this.staying) >= this.desired.slots.length - this.desired.maxUnavailable, 'never fewer than promised')
        }
        break
      }
      case 'condemn':
        assert(slot.incumbent.state === 'ready' && slot.incumbent.reason === null && slot.incumbent.crossesAt > this.now)
        Object.assign(slot.incumbent, { reason: 'forecast', condemnedAt: this.now })
        break
      case 'scale-away':
        assert(!this.staying(slot) && slot.recycle === null)
        assert(slot.incumbent.state !== 'ready' || this.serving(this.staying) > 0, 'the last one that serves stays')
        slot.isNew = true
        this.#leave(slot)
        break
      case 'close':
        assert(!this.staying(slot) && slot.incumbent === null && slot.successor === null && slot.leaving.length === 0)
        this.slots.delete(action.slot)
        break
      case 'collect': case 'heapdump':
        assert(action.type === 'collect' || !slot.incumbent.isOverHard, 'over its hard budget it is recycled at once')
        assert(this.serving() > 1 && !this.list().some(({ incumbent }) => incumbent?.state === 'out-of-rotation'), 'one at a time, and another serves')
        become(slot.incumbent, 'out-of-rotation', { task: 'under way' })
        break
      case 'rejoin':
        assert(!isServed)
        become(slot.incumbent, 'ready', { task: null })
        break
      case 'boot-standby':
        this.standbys.push(this.#start(null))
        assert(this.standbys.length <= this.desired.standbys && this.beside() <= this.room, 'standbys within the surge')
        break
      case 'retire-standby':
        become(standbys[action.standby], 'draining')
        break
      default:
        assert.fail(action.type)
    }
  }

  /** @param {number | null} slot null: a standby */
  #start (slot) {
    const worker = process('spawning', this.desired.generation)
    this.onStep({ type: 'starts', slot, worker })
    return worker
  }

  /** @param {any} slot */
  #leave (slot) {
    slot.leaving.push(become(slot.incumbent, 'draining'))
    this.onStep({ type: 'leaves', slot: slot.slot, worker: slot.incumbent })
    slot.incumbent = null
  }

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

  /** A model of the same state, apart from this one. */
  copy () {
    const copy = new FleetModel(this.desired)
    const backoff = (/** @type {any} */ { failures, notBefore }) => Object.assign(new Backoff(), { failures, notBefore })
    const clone = (/** @type {any} */ worker) => worker && { ...worker }
    copy.now = this.now
    copy.memory = this.memory
    copy.slots = new Map(this.list().map(slot => [slot.slot, {
      ...slot, incumbent: clone(slot.incumbent), successor: clone(slot.successor), leaving: slot.leaving.map(clone), recycle: clone(slot.recycle), boots: backoff(slot.boots), fresh: backoff(slot.fresh)
    }]))
    copy.standbys = this.standbys.map(clone)
    copy.standbyBoots = backoff(this.standbyBoots)
    return copy
  }

  /** Equal for states that no plan can tell apart. @returns {string} */
  get key () {
    const aheadMs = (/** @type {any} */ { failures, notBefore }) => [failures, Math.max(0, notBefore - this.now)]
    const worker = (/** @type {any} */ worker) => worker && Object.values({ ...worker, condemnedAt: worker.reason && this.now - worker.condemnedAt })
    const slots = this.list().map(({ slot, incumbent, successor, leaving, recycle, isNew, hasCrashed, boots, fresh }) =>
      [slot, worker(incumbent), worker(successor), leaving.length, recycle?.how, isNew, hasCrashed === true, aheadMs(boots), aheadMs(fresh)])
    return JSON.stringify([this.desired.slots, this.desired.generation, this.memory, slots, this.standbys.map(worker), aheadMs(this.standbyBoots)])
  }

  /** Processes that are alive. */
  get living () {
    return this.list().reduce((sum, { incumbent, successor, leaving }) => sum + (incumbent ? 1 : 0) + (successor ? 1 : 0) + leaving.length, this.standbys.length)
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
          if (slot.incumbent) this.#leave(slot)
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
        else if (slot.incumbent === null) slot.incumbent = this.#start(slot.slot)
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

  isAsDesired () {
    const { slots, generation, standbys } = this.desired
    return this.slots.size === slots.length && this.serving(this.staying) === slots.length &&
      this.list().every(({ incumbent, successor, leaving, recycle }) => incumbent.reason === null && incumbent.generation === generation && successor === null && leaving.length === 0 && recycle === null) &&
      this.standbys.length === standbys && this.standbys.every(standby => standby.state === 'standby' && standby.generation === generation)
  }
}

module.exports = { FleetModel, firstSlots, transitionsSeen }
