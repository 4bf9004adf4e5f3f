'use strict'

/**
 * Work that its starter does not wait for: each such promise is owned here, so that the end of the fleet waits for it
 * and its failure, which is a defect of ours, is not lost.
 */
class Tasks {
  /** @type {Set<Promise<void>>} */
  #running = new Set()

  /**
   * Begins a task, in this tick.
   *
   * @param {string} name for the error of one that fails
   * @param {() => Promise<unknown>} work
   */
  run (name, work) {
    const task = work().then(() => {}, error => {
      const failure = new Error(`${name}: ${error?.message ?? error}`, { cause: error })
      process.nextTick(() => { throw failure })
    }).finally(() => this.#running.delete(task))
    this.#running.add(task)
  }

  /** Resolves when no task is under way. */
  async settled () {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

module.exports = { Tasks }
