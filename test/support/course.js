'use strict'

/** A model of a fleet that follows a journal, line after line, with plans at certain of its lines. */

const { plan } = require('../../lib/core/plan')
const { figure } = require('../../lib/core/sample')

// A time of the plan comes so much later in the real fleet, at the most: on a busy machine another step may go before
// it
const LATE_MS = 500
const READ_MS = 20 // the primary has read the clock for a delay so long before it writes the line, at the most
const EARLY_MS = 1000 // a worker that dies within this time of being ready counts as one that never was
const STEP_MS = 2000 // until a step of the model must be in the journal

class Course {
  /**
   * Steps of the model that the journal has not yet.
   *
   * @type {{ type: string, slot: number | null, worker: any, at: number }[]}
   */
  due = []
  /**
   * `failures`: of its slot when it came up, which it ends if it lives; null: it has ended them.
   *
   * @type {Map<number, { worker: any, slot: number, upAt: number | null, failures?: number | null }>}
   */
  byPid = new Map()
  steps = 0
  /** What the model does not do, or does alone. @type {string[]} */
  refused = []
  /** When the first fact came that no plan knows; Infinity: there is none. */
  openSince = Infinity

  /**
   * @param {import('./fleet-model').FleetModel} model @param {Record<string, any>} options of the fleet, by its journal
   * @param {Map<Record<string, any>, number>} delays recycle-delays.js
   */
  constructor (model, options, delays) {
    this.delays = delays
    this.model = model
    this.options = options
    model.onStep = step => { this.due.push({ ...step, at: model.now }) }
  }

  /** @param {Record<string, any>} line */
  follow (line) {
    this.#advance(line.t)
    this.#endFailures(line.t)
    const handler = this.#on[line.event]
    handler?.(line)
    if (handler) this.openSince = Math.min(this.openSince, line.t)
    for (const step of this.due.filter(({ at }) => line.t - at > STEP_MS)) {
      this.#refuse(step, 'the model alone does')
      this.due = this.due.filter(other => other !== step)
    }
  }

  /**
   * The courses after this line: one for each plan that may have been made before the next.
   *
   * @param {{ canWait: boolean }} how the next line comes so soon that the facts of this one may have no plan yet
   * @returns {Course[]}
   */
  planned ({ canWait }) {
    if (this.openSince === Infinity) return [this]
    if (!canWait) {
      this.model.settle()
      this.openSince = Infinity
      return [this]
    }
    /** @type {Course[]} */
    const courses = [this]
    for (let course = this.#copy(); course.model.carryOut(); course = course.#copy()) courses.push(course)
    if (courses.length === 1) this.openSince = Infinity // no plan does anything
    return courses
  }

  /** Equal for courses that go on alike. */
  get key () {
    const { model } = this
    const workers = this.#workers()
    return JSON.stringify([
      model.key, this.openSince, this.due.map(({ type, slot, worker }) => [type, slot, workers.indexOf(worker)]),
      [...this.byPid].map(([pid, { worker }]) => [pid, workers.indexOf(worker)])
    ])
  }

  #workers () {
    return [...this.model.list()
      .flatMap(({ incumbent, successor, leaving }) => [incumbent, successor, ...leaving]), ...this.model.standbys]
  }

  #copy () {
    const copy = new Course(this.model.copy(), this.options, this.delays)
    const [before, after] = [this.#workers(), copy.#workers()]
    // One that is gone is in no model
    const copyOf = (/** @type {any} */ worker) => after[before.indexOf(worker)] ?? worker
    copy.due = this.due.map(step => ({ ...step, worker: copyOf(step.worker) }))
    copy.byPid = new Map([...this.byPid].map(([pid, known]) => [pid, { ...known, worker: copyOf(known.worker) }]))
    copy.refused = [...this.refused]
    copy.steps = this.steps
    copy.openSince = this.openSince
    return copy
  }

  /** @param {any} line @param {string} why */
  #refuse (line, why) {
    this.refused.push(`${why}: ${JSON.stringify(line)}; ${this.model.key}`)
  }

  /** Lets the model go on to this time. @param {number} t */
  #advance (t) {
    const { model } = this
    for (let wakeAt; (wakeAt = plan(model.facts(), model.desired, model.now).wakeAt) <= t;) {
      model.now = wakeAt
      model.settle()
      this.openSince = Infinity
    }
    model.now = Math.max(model.now, t)
  }

  /** A worker that has lived for a second has ended the failures before it, and no later ones. @param {number} t */
  #endFailures (t) {
    for (const known of this.byPid.values()) {
      if (known.upAt === null || known.failures === null || t - known.upAt < EARLY_MS) continue
      const { boots } = this.model.slots.get(known.slot) ?? {}
      if (boots?.failures === known.failures) boots?.succeeded()
      known.failures = null
    }
  }

  /** @param {any} line @param {string} type @param {(step: any) => boolean} isIt */
  #take (line, type, isIt) {
    const find = () => this.due.find(step => step.type === type && isIt(step))
    if (!find()) this.#advance(line.t + LATE_MS)
    const step = find()
    if (!step) return this.#refuse(line, 'the model does not')
    this.due = this.due.filter(other => other !== step)
    this.steps++
    return step
  }

  /** @param {any} line @param {'comesUp' | 'diesEarly' | 'givenUp' | 'drained' | 'diesLeaving' | 'crash'} type */
  #happens (line, type) {
    const known = this.byPid.get(line.pid)
    if (!known) return this.#refuse(line, 'no such worker')
    const { boots } = this.model.slots.get(known.slot) ?? {}
    const before = boots && { ...boots }
    if (!this.model.happenTo(type, known.worker)) this.#refuse(line, `it cannot be that this ${type}`)
    if (!boots || !before) return
    if (type === 'comesUp') Object.assign(boots, before) // until it has lived for a second
    else if (boots.failures > before.failures) Object.assign(boots, before).failed(line.t + LATE_MS)
  }

  /**
   * It has started when it has had a connection, or has lived for a second. One that was given up fails in the model.
   *
   * @param {any} line
   */
  #ends ({ t, pid, connections, event }) {
    const { slot, upAt = null, worker } = this.byPid.get(pid) ?? {}
    const { boots } = this.model.slots.get(slot ?? -1) ?? {}
    if (!boots || (upAt === null && (worker.state === 'spawning' || worker.isGivenUp))) return
    if (upAt !== null && connections > 0) boots.succeeded()
    else if (event === 'worker.crash' && (upAt === null || t - upAt < EARLY_MS)) boots.failed(t + LATE_MS)
  }

  /** @param {any} line */
  #givenUp (line) {
    this.#happens(line, 'givenUp')
    Object.assign(this.#known(line.pid), { drains: true, isGivenUp: true })
  }

  /** @param {number} pid */
  #known (pid) {
    return this.byPid.get(pid)?.worker ?? {}
  }

  /** @type {Record<string, (line: any) => void>} */
  #on = {
    'fleet.start': () => {},
    'fleet.scale': ({ slots }) => { this.model.desired = { ...this.model.desired, slots } },
    'fleet.reload': ({ generation }) => { this.model.desired = { ...this.model.desired, generation } },
    'fleet.memory': ({ limitBytes, usedBytes, freshBytes }) => { this.model.memory = { limitBytes, usedBytes, freshBytes } },
    'worker.spawn': line => {
      const step = this.#take(line, 'starts', ({ slot }) => slot === line.slot)
      if (!step) return
      this.byPid.set(line.pid, { worker: step.worker, slot: line.slot, upAt: null })
      // It could not be started: its crash is the next line about it
      if (line.pid === null) this.#happens(line, 'diesEarly')
      const { boots } = this.model.slots.get(line.slot) ?? {}
      // It was over, and not so much later
      if (boots) for (const time of /** @type {const} */ (['notBefore', 'unservedNotBefore'])) boots[time] = Math.min(boots[time], line.t)
    },
    'worker.ready': line => {
      this.#happens(line, 'comesUp')
      const known = this.byPid.get(line.pid)
      if (known) Object.assign(known, { upAt: line.t, failures: this.model.slots.get(known.slot)?.boots.failures })
      this.#known(line.pid).isSampled = false
    },
    'worker.sample': line => {
      const bytes = figure(line, this.options.metric)
      Object.assign(this.#known(line.pid), { isSampled: true, ...bytes === null ? {} : { bytes: line.rssBytes ?? 0 } })
    },
    'worker.condemn': line => {
      const { onBudget, heapdumpsPerDay } = this.options
      const isOverHard = line.reason === 'hard-rss'
      const isOfMemory = line.reason === 'rss' || isOverHard
      const task = !isOfMemory ? null : onBudget === 'collect' ? 'relief' : heapdumpsPerDay !== null ? 'before-recycle' : null
      Object.assign(this.#known(line.pid), { reason: line.reason, condemnedAt: line.t, isOverHard, task })
      const notBefore = this.delays.get(line) ?? 0
      const { fresh = null } = this.model.slots.get(line.slot) ?? {}
      if (fresh) fresh.notBefore = notBefore > line.t ? notBefore + LATE_MS - READ_MS : 0
    },
    'worker.keep': ({ pid }) => { Object.assign(this.#known(pid), { reason: null, task: null }) },
    'worker.out-of-rotation': ({ pid }) => { this.#known(pid).state = 'out-of-rotation' },
    'worker.in-rotation': ({ pid }) => { if (this.#known(pid).state === 'out-of-rotation') Object.assign(this.#known(pid), { state: 'ready', task: null }) },
    'worker.drain': line => {
      if (line.reason === 'not-ready') this.#givenUp(line)
      else if (this.#take(line, 'leaves', ({ worker }) => worker === this.#known(line.pid))) this.#known(line.pid).drains = true
    },
    'worker.retire': line => {
      const worker = this.#known(line.pid)
      if (!worker.drains && line.killedFor === 'not-ready') this.#givenUp(line)
      else if (!worker.drains && line.killedFor === 'unstarted') this.#take(line, 'leaves', step => step.worker === worker) // its drain is in no line
      else if (!worker.drains) this.#refuse(line, 'it has left without a drain')
      this.#ends(line)
      this.#happens(line, 'drained')
    },
    'worker.crash': line => {
      if (line.pid === null) return
      this.#ends(line)
      this.#happens(line, this.#known(line.pid).drains ? 'diesLeaving' : this.byPid.get(line.pid)?.upAt === null ? 'diesEarly' : 'crash')
    }
  }
}

module.exports = { Course }
