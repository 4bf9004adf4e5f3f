'use strict'

/** The primary's parts of the features that are on. */

const { FEATURES } = require('../features')

class RunningFeatures {
  /** By name. @type {Map<string, import('../features').PrimaryPart>} */
  #parts = new Map()

  /** @param {import('../features').PrimaryKernel} kernel */
  constructor (kernel) {
    for (const { name, primary, isOn } of FEATURES) if (primary && isOn(kernel.options)) this.#parts.set(name, primary()(kernel))
  }

  /** @param {import('./workers/worker-handle').WorkerHandle} handle */
  connect (handle) {
    for (const part of this.#parts.values()) part.connect(handle)
  }

  wake () {
    for (const part of this.#parts.values()) part.wake?.()
  }

  /** @returns {Record<string, any>} what each says of itself in status(), by its key; null: it is off */
  describe () {
    return Object.fromEntries(FEATURES.flatMap(({ name, status }) => status ? [[status.key, this.#parts.get(name)?.describe?.() ?? null]] : []))
  }
}

module.exports = { RunningFeatures }
