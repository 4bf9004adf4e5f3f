'use strict'

/** The primary's parts of the features that are on. */

const { FEATURES } = require('../features')
const { NoOwners } = require('./handoff/no-owners')
/** @import { PrimaryKernel, PrimaryPart, Probe } from '../features/interface' */
/** @import { WorkerHandle } from './workers/worker-handle' */

/**
 * @typedef {{ [Name in Called]-?: NonNullable<PrimaryPart[Name]> }} Part
 * @typedef {'begin' | 'connect' | 'sessionOf' | 'collect' | 'reload' | 'crashed' | 'left' | 'causeOf' | 'wake' |
 *   'probe' | 'kept' | 'beforeKill' | 'beforeStop' | 'scrape'} Called
 */

class RunningFeatures {
  /** By name. @type {Map<string, PrimaryPart>} */
  #parts = new Map()
  /** Figures of samples that are those of the latest heartbeat, unless a part has read them. @type {string[]} */
  #ofBeat

  /** @param {PrimaryKernel} kernel */
  constructor (kernel) {
    for (const { name, primary, isOn } of FEATURES) {
      if (primary && isOn(kernel.options)) {
        this.#parts.set(name, primary()(kernel))
      }
    }
    this.#ofBeat = FEATURES.filter(({ isOn }) => isOn(kernel.options)).flatMap(({ figures = {} }) =>
      Object.entries(figures).flatMap(([name, { beat }]) => beat ? [name] : []))
    /** Of sessions. @type {import('./handoff/no-owners').Owners} */
    this.owners = [...this.#parts.values()].find(({ owners }) => owners)?.owners ?? new NoOwners()
    /** Of workers. */
    this.source = [...this.#parts.values()].find(({ source }) => source)?.source ?? null
    /** @type {NonNullable<PrimaryPart['commands']>} */
    this.commands = Object.assign({}, ...[...this.#parts.values()].map(({ commands }) => commands))
    /** @type {NonNullable<PrimaryPart['verbs']>} */
    this.verbs = Object.assign({}, ...[...this.#parts.values()].map(({ verbs }) => verbs))
  }

  /** Requests belong to sessions. */
  get hasSessions () {
    return !(this.owners instanceof NoOwners)
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    this.all('connect', handle)
  }

  /**
   * Calls this function of each part that has it.
   *
   * @template {keyof Part} Name
   * @param {Name} name @param {Parameters<Part[Name]>} args @returns {ReturnType<Part[Name]>[]}
   */
  all (name, ...args) {
    return [...this.#parts.values()].flatMap((/** @type {any} */ part) => part[name] ? [part[name](...args)] : [])
  }

  /**
   * The first answer that is not null.
   *
   * @template {keyof Part} Name
   * @param {Name} name @param {Parameters<Part[Name]>} args @returns {ReturnType<Part[Name]> | null}
   */
  first (name, ...args) {
    for (const part of this.#parts.values()) {
      const result = /** @type {any} */ (part)[name]?.(...args) ?? null
      if (result !== null) return result
    }
    return null
  }

  /** @param {WorkerHandle} handle @returns {Probe} of what they add to its samples */
  probe (handle) {
    const worker = { handle, pid: handle.pid, latest: () => handle.latest, upSince: () => Number(handle.upSince) }
    const probes = this.all('probe', worker)
    const ofBeat = () => Object.fromEntries(this.#ofBeat.map(name => [name, handle.latest[name] ?? null]))
    return { read: async at => Object.assign(ofBeat(), ...await Promise.all(probes.map(probe => probe.read(at)))) }
  }

  /** @param {WorkerHandle} handle @returns {import('../core/fleet-facts').WorkerFacts['task']} */
  taskOf (handle) {
    const states = this.#before.map(({ stateOf }) => stateOf(handle))
    if (states.includes('under way')) return 'under way'
    const due = this.#before[states.indexOf('due')]
    return due ? due.mayKeep ? 'relief' : 'before-recycle' : null
  }

  /** Does what is due before its recycle. @param {WorkerHandle} handle */
  async beforeRecycle (handle) {
    await this.#before.find(({ stateOf }) => stateOf(handle) === 'due')?.run(handle)
  }

  /** A worker that is condemned may be kept. */
  get mayKeep () {
    return this.#before.some(({ mayKeep }) => mayKeep)
  }

  get #before () {
    return [...this.#parts.values()].flatMap(({ beforeRecycle }) => beforeRecycle ?? [])
  }

  /** @returns {Promise<{ feature: string, text: string }[]>} what the next primary's are to have */
  async bequeath () {
    const all = await Promise.all(
      [...this.#parts].map(async ([feature, part]) => ({ feature, text: await part.bequeath?.() ?? null }))
    )
    return /** @type {{ feature: string, text: string }[]} */ (all.filter(({ text }) => text !== null))
  }

  /** @param {{ feature: string, text: string }} legacy of the primary before */
  inherit ({ feature, text }) {
    this.#parts.get(feature)?.inherit?.(text)
  }

  /** @returns {import('../features').Descriptions} */
  describe () {
    return /** @type {any} */ (Object.fromEntries(FEATURES.flatMap(({ name, status }) =>
      status ? [[status.key, this.#parts.get(name)?.describe?.() ?? null]] : [])))
  }
}

module.exports = { RunningFeatures }
