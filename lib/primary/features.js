'use strict'

/**
 * The primary's parts of the features that are on. What one feature alone does for the kernel is called by that
 * feature's name: here, and nowhere else in the primary.
 */

const { FEATURES } = require('../features')
const { OF_FEATURES } = require('../tables/figures')
/** @import { Commands, Descriptions } from '../features' */
/** @import { Asked, PrimaryPart } from '../features/interface' */
/** @import { Parts } from './parts' */
/** @import { WorkerHandle } from './workers/worker-handle' */

/**
 * @typedef {{
 *   'app-metrics': import('../features/app-metrics/primary').AppMetrics,
 *   blocked: import('../features/blocked/primary').BlockedLoops,
 *   canary: import('../features/canary/primary').Canary,
 *   elastic: import('../features/elastic/primary').Sizing,
 *   failover: ReturnType<typeof import('../features/failover/primary').failOver>,
 *   fork: ReturnType<typeof import('../features/fork/primary').forkWorkers>,
 *   gc: import('../features/gc/primary').GarbageCollection,
 *   heapdump: import('../features/heapdump/primary').Heapdumps,
 *   'leak-line': import('../features/leak-line/primary').LeakStudies,
 *   'stop-delay': ReturnType<typeof import('../features/stop-delay/primary').delayStop>,
 *   sticky: ReturnType<typeof import('../features/sticky/primary').keepSessions>,
 *   upgrade: Pick<Commands, 'upgrade'>
 * }} Named parts of which the kernel calls what no other feature has
 *
 * @typedef {object} BeforeRecycle what a condemned worker does before its recycle, out of rotation, one at a time
 * @property {(worker: WorkerHandle) => 'due' | 'under way' | null} stateOf null: there is none, or it is over
 * @property {(worker: WorkerHandle) => Promise<void>} run one that is due
 */

class RunningFeatures {
  /** By name. @type {Map<string, PrimaryPart>} */
  #parts = new Map()
  /** Figures of samples that are those of the latest heartbeat, unless a part has read them. @type {string[]} */
  #ofBeat

  /** @param {Parts} kernel */
  constructor (kernel) {
    for (const { name, primary, isOn } of FEATURES) {
      if (primary && isOn(kernel.options)) this.#parts.set(name, primary()(kernel))
    }
    this.#ofBeat = OF_FEATURES.flatMap(({ name, beat, isOn }) => beat && isOn?.(kernel.options) ? [name] : [])
    /** Of sessions; null: any worker handles each. @type {import('../features/sticky/owners').SessionOwners | null} */
    this.owners = this.#named('sticky')?.owners ?? null
    /** Of connections that workers read. @type {import('../features/failover/primary').Copies} */
    this.copies = { take: () => null, keep: (handle, copy, socket) => socket.close() }
    const failover = this.#named('failover')
    if (failover?.take) this.copies = /** @type {any} */ (failover)
    /** Of workers; null: each is a process of its own. @type {import('./workers/spawner').Source | null} */
    this.source = this.#named('fork')?.source ?? null
    /** @type {NonNullable<PrimaryPart['commands']>} */
    this.commands = Object.assign({}, ...[...this.#parts.values()].map(({ commands }) => commands))
  }

  /**
   * @template {keyof Named} Name
   * @param {Name} name of a feature @returns {Named[Name] | null} its part; null: it is off
   */
  #named (name) {
    return /** @type {any} */ (this.#parts.get(name) ?? null)
  }

  /** Methods of the supervisor. @returns {Partial<Named['upgrade']>} */
  get verbs () {
    return this.#named('upgrade') ?? {}
  }

  /** Parts that leave something to the next primary's, by name; see legacy.js. */
  get heirs () {
    return /** @type {[string, import('./legacy').Heir][]} */ (
      [...this.#parts].filter(([, part]) => 'bequeath' in part))
  }

  /** Requests belong to sessions. */
  get hasSessions () {
    return this.owners !== null
  }

  /** @param {Asked} asked @returns {string | null} the session that this request belongs to */
  sessionOf (asked) {
    return this.#named('sticky')?.sessionOf(asked) ?? null
  }

  /**
   * @param {WorkerHandle} handle one that is gone
   * @param {(outcome: import('../core/account').Outcome) => void} settled called with what has become of its
   *   connections, at once where they are few
   * @returns {Promise<void> | null} null: it had none
   */
  left (handle, settled) {
    return this.#named('failover')?.left?.(handle, settled) ?? null
  }

  /** @param {AbortSignal} ended the fleet has stopped, or another primary runs it */
  begin (ended) {
    this.#named('elastic')?.begin(ended)
  }

  /** Asks a worker that is to be killed for what is still to be known. @param {WorkerHandle} handle */
  async beforeKill (handle) {
    await this.#named('blocked')?.beforeKill(handle)
  }

  /**
   * Waits for --stop-delay before a stop, while the fleet is in service.
   * @param {AbortSignal} hurried it resolves soon then @returns {Promise<void> | null} null: nothing does
   */
  beforeStop (hurried) {
    return this.#named('stop-delay')?.beforeStop(hurried) ?? null
  }

  /**
   * @param {Record<string, unknown>} how
   * @returns {Promise<string | undefined> | null} null: no feature reloads the fleet its own way
   */
  reload (how) {
    return this.#named('canary')?.reload(how) ?? null
  }

  /** @param {WorkerHandle} handle @param {boolean} isGone else its app has not caught an exception */
  crashed (handle, isGone) {
    this.#named('canary')?.crashed(handle, isGone)
  }

  /** Has a worker collect its garbage, out of rotation. @param {number} slot */
  async collect (slot) {
    await this.#named('gc')?.collect(slot)
  }

  /** @param {WorkerHandle} handle @returns {string | null} what is known of why it has grown, in a few words */
  causeOf (handle) {
    return this.#named('leak-line')?.causeOf(handle) ?? null
  }

  /** More metrics, in Prometheus's text format. @returns {Promise<string>} */
  async scrape () {
    return await this.#named('app-metrics')?.scrape() ?? ''
  }

  /** @param {WorkerHandle} handle one that has been spawned */
  connect (handle) {
    for (const part of this.#parts.values()) part.connect?.(handle)
  }

  /** The machine has slept. */
  wake () {
    for (const part of this.#parts.values()) part.wake?.()
  }

  /**
   * @param {WorkerHandle} handle
   * @returns {(at: number) => Promise<Record<string, unknown>>} reads what they add to its samples
   */
  probe (handle) {
    const reads = [...this.#parts.values()].flatMap(part => part.probe?.(handle) ?? [])
    const ofBeat = () => Object.fromEntries(this.#ofBeat.map(name => [name, handle.latest[name] ?? null]))
    return async at => Object.assign(ofBeat(), ...await Promise.all(reads.map(read => read(at))))
  }

  /** @param {WorkerHandle} handle @returns {import('../core/fleet-facts').WorkerFacts['task']} */
  taskOf (handle) {
    const states = this.#before.map(({ stateOf }) => stateOf(handle))
    if (states.includes('under way')) return 'under way'
    const due = this.#before[states.indexOf('due')]
    return due ? due === this.#relief ? 'relief' : 'before-recycle' : null
  }

  /** Does what is due before its recycle. @param {WorkerHandle} handle */
  async beforeRecycle (handle) {
    await this.#before.find(({ stateOf }) => stateOf(handle) === 'due')?.run(handle)
  }

  /** In place of a recycle. */
  get #relief () {
    return this.#named('gc')?.relief ?? null
  }

  /** @returns {BeforeRecycle[]} */
  get #before () {
    const of = (/** @type {'heapdump' | 'leak-line'} */ name) => this.#named(name)?.beforeRecycle ?? []
    return [this.#relief ?? [], of('heapdump'), of('leak-line')].flat()
  }

  /** @returns {Descriptions} */
  describe () {
    return /** @type {any} */ (Object.fromEntries(FEATURES.flatMap(({ name, status }) =>
      status ? [[status.key, this.#parts.get(name)?.describe?.() ?? null]] : [])))
  }
}

module.exports = { RunningFeatures }
