'use strict'

const { performance } = require('node:perf_hooks')
const { clearTimeout, setTimeout } = require('node:timers')

/** By when this worker is to have left. An order that comes later may bring it forward. */
class Deadline {
  #at = Infinity
  #passed = () => {}
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /** @param {number} ms from now */
  set (ms) {
    this.#at = performance.now() + ms
    this.#wait()
  }

  /**
   * @param {Promise<unknown>} promise @returns {Promise<unknown>} settles with it, and at the deadline at the latest
   */
  async orAt (promise) {
    const passed = new Promise(resolve => { this.#passed = () => resolve(undefined) })
    this.#wait()
    return Promise.race([promise, passed]).finally(() => {
      this.#passed = () => {}
      clearTimeout(this.#timer)
    })
  }

  #wait () {
    clearTimeout(this.#timer)
    if (this.#at < Infinity) this.#timer = setTimeout(() => this.#passed(), Math.max(0, this.#at - performance.now()))
  }
}

module.exports = { Deadline }
