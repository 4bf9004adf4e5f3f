'use strict'

/**
 * Work that its starter need not wait for: each such promise is owned here, so that the end of the fleet waits for it
 * and its failure, which is a defect of ours, is told and ends nothing else.
 */
class Tasks {
  /** @type {Set<Promise<void>>} */
  #running = new Set()

  /** @param {import('./failures').Failures} failures */
  constructor (failures) {
    this.failures = failures
  }

  /**
   * Begins a task, in this tick.
   * @param {string} name @param {() => Promise<unknown>} work
   * @returns {Promise<void>} resolves when it has ended, by a failure or not
   */
  run (name, work) {
    const task = new Promise(resolve => resolve(work())).then(() => {}, error => this.failures.note(name, error))
      .finally(() => this.#running.delete(task))
    this.#running.add(task)
    return task
  }

  /** Resolves when no task is under way. */
  async settled () {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

module.exports = { Tasks }
