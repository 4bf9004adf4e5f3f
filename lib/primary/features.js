'use strict'

/** The primary's parts of the features that are on. */

const { FEATURES } = require('../features')
const { NoOwners } = require('./handoff/no-owners')

class RunningFeatures {
  /** By name. @type {Map<string, import('../features').PrimaryPart>} */
  #parts = new Map()
  /** By name. @type {NonNullable<import('../features').PrimaryPart['commands']>} */
  commands
  /** By name. @type {NonNullable<import('../features').PrimaryPart['verbs']>} */
  verbs

  /** @param {import('../features').PrimaryKernel} kernel */
  constructor (kernel) {
    for (const { name, primary, isOn } of FEATURES) if (primary && isOn(kernel.options)) this.#parts.set(name, primary()(kernel))
    /** Of sessions. @type {import('./handoff/no-owners').Owners} */
    this.owners = [...this.#parts.values()].find(({ owners }) => owners)?.owners ?? new NoOwners()
    this.commands = Object.assign({}, ...[...this.#parts.values()].map(({ commands }) => commands))
    this.verbs = Object.assign({}, ...[...this.#parts.values()].map(({ verbs }) => verbs))
  }

  /** Requests belong to sessions. */
  get hasSessions () {
    return !(this.owners instanceof NoOwners)
  }

  /** @type {NonNullable<import('../features').PrimaryPart['sessionOf']>} */
  sessionOf (asked) {
    for (const part of this.#parts.values()) if (part.sessionOf) return part.sessionOf(asked)
    return null
  }

  /** @param {AbortSignal} ended */
  begin (ended) {
    for (const part of this.#parts.values()) part.begin?.(ended)
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle */
  connect (handle) {
    for (const part of this.#parts.values()) part.connect?.(handle)
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle @returns {import('../features').Probe} of what they add to its samples */
  probe (handle) {
    const worker = { handle, pid: handle.pid, latest: () => handle.latest, upSince: () => Number(handle.upSince) }
    const probes = [...this.#parts.values()].flatMap(part => part.probe ? [part.probe(worker)] : [])
    return { read: async at => Object.assign({}, ...await Promise.all(probes.map(probe => probe.read(at)))) }
  }

  /** @param {Record<string, any>} how @returns {Promise<string | undefined> | null} null: none wants it otherwise than at once */
  reload (how) {
    for (const part of this.#parts.values()) {
      const reload = part.reload?.(how) ?? null
      if (reload !== null) return reload
    }
    return null
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle @param {boolean} isGone */
  crashed (handle, isGone) {
    for (const part of this.#parts.values()) part.crashed?.(handle, isGone)
  }

  /** @type {NonNullable<import('../features').PrimaryPart['kept']>} */
  kept (handle, copy, socket, key) {
    for (const part of this.#parts.values()) if (part.kept) return part.kept(handle, copy, socket, key)
    socket.close()
  }

  /** What has become of the connections of a worker that is gone; null: not known. @param {import('./workers/worker-handle').WorkerHandle} handle */
  left (handle) {
    for (const part of this.#parts.values()) if (part.left) return part.left(handle)
    return null
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle */
  async beforeKill (handle) {
    await Promise.all([...this.#parts.values()].map(part => part.beforeKill?.(handle)))
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle @returns {'before-recycle' | 'under way' | null} 'before-recycle': one is due */
  taskOf (handle) {
    const states = this.#before.map(({ stateOf }) => stateOf(handle))
    if (states.includes('under way')) return 'under way'
    return states.includes('due') ? 'before-recycle' : null
  }

  /** Does what is due before its recycle. @param {import('./workers/worker-handle').WorkerHandle} handle */
  async beforeRecycle (handle) {
    await this.#before.find(({ stateOf }) => stateOf(handle) === 'due')?.run(handle)
  }

  get #before () {
    return [...this.#parts.values()].flatMap(({ beforeRecycle }) => beforeRecycle ?? [])
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle that is condemned @returns {string | null} what is known of why it has grown */
  causeOf (handle) {
    for (const part of this.#parts.values()) {
      const cause = part.causeOf?.(handle) ?? null
      if (cause !== null) return cause
    }
    return null
  }

  /** @param {AbortSignal} hurried @returns {Promise<unknown> | null} null: a stop may begin at once */
  beforeStop (hurried) {
    const waits = [...this.#parts.values()].flatMap(part => part.beforeStop ? [part.beforeStop(hurried)] : [])
    return waits.length > 0 ? Promise.all(waits) : null
  }

  /** @returns {Promise<{ feature: string, text: string }[]>} what the next primary's are to have */
  async bequeath () {
    const all = await Promise.all([...this.#parts].map(async ([feature, part]) => ({ feature, text: await part.bequeath?.() ?? null })))
    return /** @type {{ feature: string, text: string }[]} */ (all.filter(({ text }) => text !== null))
  }

  /** @param {{ feature: string, text: string }} legacy of the primary before */
  inherit ({ feature, text }) {
    this.#parts.get(feature)?.inherit?.(text)
  }

  wake () {
    for (const part of this.#parts.values()) part.wake?.()
  }

  /** @returns {Promise<string>} */
  async scrape () {
    return (await Promise.all([...this.#parts.values()].map(part => part.scrape?.() ?? ''))).join('')
  }

  /** @returns {Record<string, any>} what each says of itself in status(), by its key; null: it is off */
  describe () {
    return Object.fromEntries(FEATURES.flatMap(({ name, status }) => status ? [[status.key, this.#parts.get(name)?.describe?.() ?? null]] : []))
  }
}

module.exports = { RunningFeatures }
