'use strict'

const KEPT = 100

/** The last lines of the journal, without samples, for `follow`; independent of a journal file. */
class Recent {
  /** @type {Record<string, any>[]} */
  #lines = []

  /** @param {import('node:events').EventEmitter} supervisor */
  constructor (supervisor) {
    this.supervisor = supervisor
    supervisor.on('event', line => {
      if (line.event === 'worker.sample') return
      this.#lines.push(line)
      if (this.#lines.length > KEPT) this.#lines.shift()
    })
  }

  /** @param {number} count */
  last (count) {
    return count > 0 ? this.#lines.slice(-count) : []
  }
}

module.exports = { Recent }
