'use strict'

/**
 * `--on-condemn heapdump`: a worker that is condemned for its memory writes a heap snapshot before it is recycled:
 *
 *     condemned for memory ─▶ out of rotation, snapshot ─▶ recycled as usual
 *
 * Where the snapshot is not written, for whatever reason, the recycle goes on.
 */

const { isQuotaLeft, lackOfRoom } = require('../../core/heapdump-quota')
const { figure } = require('../../core/sample')
const { now } = require('../clock')

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

class CondemnedHeapdumps {
  /** Condemned workers whose snapshot is under way, or over: written or not. @type {WeakMap<WorkerHandle, 'under way' | 'over'>} */
  #tried = new WeakMap()
  /** When the snapshots were begun, ms, by clock.js. @type {number[]} */
  #takenAt = []
  /** The last refusal is in the journal. */
  #isSaid = false
  /** As the folder was last looked at. */
  #usedBytes = 0
  /** @type {string | null} */
  #latest = null

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('./heapdump-folder').HeapdumpFolder | null} deps.heapdumpFolder null: without the option
   * @param {import('../measuring/sampler').Sampler} deps.sampler
   * @param {import('./diagnostics').Diagnostics} deps.diagnostics
   * @param {(event: string, fields: Record<string, any>) => Record<string, any>} deps.record
   * @param {() => void} deps.changed to be called when a fact has changed
   */
  constructor ({ options, fleet, heapdumpFolder, sampler, diagnostics, record, changed }) {
    this.options = options
    this.fleet = fleet
    this.folder = heapdumpFolder
    this.sampler = sampler
    this.diagnostics = diagnostics
    this.record = record
    this.changed = changed
    if (this.folder !== null) this.#usedBytes = this.folder.usage().usedBytes
  }

  /** @param {WorkerHandle} handle @returns {'heapdump' | 'under way' | null} 'heapdump': a snapshot is to be written before its recycle */
  taskOf (handle) {
    const tried = this.#tried.get(handle)
    if (tried === 'under way') return tried
    if (this.folder === null || tried === 'over' || handle.reason !== 'rss') return null
    return isQuotaLeft(this.#takenAt, Number(this.options.heapdumpsPerDay), now()) ? 'heapdump' : null
  }

  /** Before a recycle. @param {number} slot */
  async dump (slot) {
    const handle = /** @type {WorkerHandle} */ (this.fleet.slots.get(slot)?.incumbent)
    const folder = /** @type {import('./heapdump-folder').HeapdumpFolder} */ (this.folder)
    this.#tried.set(handle, 'under way')
    try {
      const why = this.#refusal(handle)
      if (why === null) {
        const begunAt = now()
        const line = await this.diagnostics.dumpCondemned(handle, folder.path, () => this.#whyNotNow(handle))
        if (line !== null) {
          this.#takenAt = [...this.#takenAt.slice(1 - Number(this.options.heapdumpsPerDay)), begunAt]
          this.#latest = line.file
          this.#usedBytes += line.bytes
        }
      } else if (!this.#isSaid) {
        this.record('fleet.warning', { warning: 'heapdump', slot, pid: handle.pid, folder: folder.path, why })
      }
      this.#isSaid = why !== null
    } finally {
      this.#tried.set(handle, 'over')
      this.changed()
    }
  }

  /** @returns plain data for status(); null: without the option */
  describe () {
    if (this.folder === null) return null
    const { heapdumpsPerDay: perDay, heapdumpLimitBytes: limitBytes } = this.options
    return { folder: this.folder.path, perDay, isDue: isQuotaLeft(this.#takenAt, Number(perDay), now()), usedBytes: this.#usedBytes, limitBytes, latest: this.#latest }
  }

  /** A hard budget holds out of rotation, too. @param {WorkerHandle} handle @returns {Promise<string | null>} */
  async #whyNotNow (handle) {
    const { metric, hardBytes } = handle.budget
    const reading = await this.sampler.read(handle, { inFull: metric !== 'rss' })
    const bytes = reading && figure(/** @type {any} */ (reading), metric)
    return bytes !== null && hardBytes !== null && bytes > hardBytes ? 'it is over its hard budget' : null
  }

  /** @param {WorkerHandle} handle @returns {string | null} */
  #refusal (handle) {
    try {
      const { usedBytes, freeBytes } = /** @type {import('./heapdump-folder').HeapdumpFolder} */ (this.folder).open().usage()
      this.#usedBytes = usedBytes
      const expectedBytes = this.sampler.figuresOf(handle)?.sample?.rssBytes ?? 0
      return lackOfRoom({ usedBytes, freeBytes, limitBytes: this.options.heapdumpLimitBytes }, expectedBytes)
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }
}

module.exports = { CondemnedHeapdumps }
