'use strict'

/** Random numbers (xorshift32 over a mixed seed). */
class Random {
  #state
  /** @type {number | null} */
  #spare = null

  /** @param {number} seed */
  constructor (seed) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) ^ 0x85ebca6b || 1
    for (let i = 0; i < 10; i++) this.uniform()
  }

  /** @returns {number} 0 to 1, without either */
  uniform () {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return ((this.#state >>> 0) + 0.5) / 4294967296
  }

  /** Of the standard normal distribution, by Box and Muller. */
  normal () {
    if (this.#spare !== null) {
      const spare = this.#spare
      this.#spare = null
      return spare
    }
    const [radius, angle] = [Math.sqrt(-2 * Math.log(this.uniform())), 2 * Math.PI * this.uniform()]
    this.#spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }

  /** @param {number} least @param {number} most */
  logUniform (least, most) {
    return least * (most / least) ** this.uniform()
  }

  /** @param {number} share */
  chance (share) {
    return this.uniform() < share
  }

  /** @param {number} mean @returns {number} of the Poisson distribution */
  poisson (mean) {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()))
    let count = -1
    for (let left = mean; left > 0; count++) left += Math.log(this.uniform())
    return Math.max(0, count)
  }
}

module.exports = { Random }
