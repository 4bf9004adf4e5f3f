'use strict'

/**
 * Whether the load is gathered on as many workers as there are CPUs, while the others sleep. With more of them a long
 * request keeps fewer others waiting, since they share the CPUs; but each has to wake, with caches of its own, which
 * takes 3 to 5 µs of CPU a request. So the load is gathered where requests are short, connections few and no event loop
 * is late, and spread as soon as that is over. Where something could not be spread again, nothing is gathered.
 */

const SHORT_MS = 0.2 // of CPU for a request, on average
const LATE_MS = 30 // a collection makes one event loop late now and then
const LATE_FOR_MS = 1000
const LEAST_CPUS = 0.2 // below, there is nothing to save
const MOST_EACH = 1000 // connections of a worker, on average
const CALM_MS = 5000 // before it is gathered
const SPREAD_MS = 60_000 // before it is gathered once more

class Gathering {
  isOn = false
  #calmSince = Infinity
  #lateSince = Infinity
  #notBefore = -Infinity

  /**
   * @param {object} fleet since the last look @param {number} fleet.cpus that the workers use
   * @param {number} fleet.rate requests a second @param {number} fleet.lagMs the longest delay of an event loop
   * @param {number} fleet.connections
   * @param {boolean} fleet.isFlexible its workers run the same code, every connection can move, and no worker lacks
   *   room for more
   * @param {number} awake workers that would do the load @param {number} now ms
   * @returns {boolean} whether the load is to be gathered
   */
  look ({ cpus, rate, lagMs, connections, isFlexible }, awake, now) {
    this.#lateSince = lagMs > LATE_MS ? Math.min(this.#lateSince, now) : Infinity
    const isLate = now - this.#lateSince >= LATE_FOR_MS || 1000 * cpus > SHORT_MS * rate
    const isUnfit = !isFlexible || connections > MOST_EACH * awake || lagMs > LATE_FOR_MS ||
      (cpus >= LEAST_CPUS && isLate)
    this.#calmSince = isUnfit || cpus < LEAST_CPUS ? Infinity : Math.min(this.#calmSince, now)
    if (this.isOn && isUnfit) {
      this.isOn = false
      this.#notBefore = now + SPREAD_MS
    } else if (now >= this.#notBefore && now - this.#calmSince >= CALM_MS) {
      this.isOn = true
    }
    return this.isOn
  }
}

/**
 * The busiest do the load, but those that rest already go on resting.
 * @template {{ busy: number, isResting: boolean }} Worker
 * @param {readonly Worker[]} workers @param {number} awake how many do the load @returns {Worker[]} the others
 */
function restingOf (workers, awake) {
  return [...workers].sort((a, b) => Number(a.isResting) - Number(b.isResting) || b.busy - a.busy).slice(awake)
}

module.exports = { Gathering, restingOf }
