'use strict'

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/** How long the workers of each generation have served, and how they have failed, since the first of it served. */

/**
 * @typedef {object} Service of all workers of a code together; JSON
 * @property {number} ms in service
 * @property {number} crashes
 * @property {number} exceptions uncaught ones
 */

class Services {
  /** Workers that serve. @type {Set<WorkerHandle>} */
  workers = new Set()
  /** By generation; the time of those that are gone alone. @type {Map<number, Service>} */
  #of = new Map()

  /** @param {() => number} now ms, a clock that the handles go by */
  constructor (now) {
    this.now = now
  }

  /** @param {WorkerHandle} handle serves from here on */
  begin (handle) {
    if (!this.#of.has(handle.generation)) this.#forget()
    this.workers.add(handle)
    this.#get(handle.generation)
  }

  /** @param {WorkerHandle} handle is gone */
  end (handle) {
    if (this.workers.delete(handle)) this.#get(handle.generation).ms += this.#msOf(handle)
  }

  /** @param {WorkerHandle} handle @param {boolean} isGone else its app has not caught an exception */
  failed (handle, isGone) {
    this.#get(handle.generation)[isGone ? 'crashes' : 'exceptions']++
  }

  /** @param {(generation: number) => boolean} isOf @returns {Service} */
  sum (isOf) {
    const sum = { ms: 0, crashes: 0, exceptions: 0 }
    for (const [generation, { ms, crashes, exceptions }] of this.#of) {
      if (!isOf(generation)) continue
      sum.ms += ms
      sum.crashes += crashes
      sum.exceptions += exceptions
    }
    for (const handle of this.workers) if (isOf(handle.generation)) sum.ms += this.#msOf(handle)
    return sum
  }

  /** @param {number} generation @returns {Service} */
  #get (generation) {
    const known = this.#of.get(generation) ?? { ms: 0, crashes: 0, exceptions: 0 }
    this.#of.set(generation, known)
    return known
  }

  /** @param {WorkerHandle} handle */
  #msOf ({ upSince }) {
    return this.now() - Number(upSince)
  }

  /** Generations of which no worker is left. */
  #forget () {
    const living = new Set([...this.workers].map(({ generation }) => generation))
    for (const generation of this.#of.keys()) if (!living.has(generation)) this.#of.delete(generation)
  }
}

module.exports = { Services }
