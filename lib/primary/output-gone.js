'use strict'

/**
 * Writes to stdout or stderr that fail, as their reader is gone or their disk is full: the first of any process of the
 * fleet is told, and the end, with the number of what was lost. The fleet serves on.
 */

/** @typedef {{ stream: string, lost: number, why: string | null }} Loss `lost` 0: it begins; `why` null: it is over */

class OutputGone {
  /** Failures by stream. @type {Map<string, { lost: number, sources: Set<object> }>} */
  #failing = new Map()

  /** @param {(loss: Loss) => void} tell */
  constructor (tell) {
    this.tell = tell
  }

  /** @param {object} source the process @param {Loss} loss */
  note (source, { stream, lost, why }) {
    const failing = this.#failing.get(stream) ?? { lost: 0, sources: new Set() }
    failing.lost += lost
    if (why !== null) {
      if (failing.sources.size === 0) this.tell({ stream, lost: 0, why })
      this.#failing.set(stream, failing)
      failing.sources.add(source)
    } else if (failing.sources.delete(source) && failing.sources.size === 0) {
      this.#failing.delete(stream)
      this.tell({ stream, lost: failing.lost, why: null })
    }
  }

  /** The worker has exited: what it lost since it said so is not known. @param {object} source */
  left (source) {
    for (const [stream, { sources }] of this.#failing) {
      if (sources.delete(source) && sources.size === 0) this.#failing.delete(stream)
    }
  }
}

module.exports = { OutputGone }
