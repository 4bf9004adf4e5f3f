'use strict'

/**
 * Whether the workers of a fleet crash again and again, and what may be the cause: the requests that were in flight in
 * those that crashed. The one that most of them had is named first; of those that all had, the rarest: it is no wonder
 * that each had one of the common ones.
 *
 * @typedef {object} Crash
 * @property {number} at ms, by any clock that only goes forward
 * @property {string} how in words: `SIGSEGV`, `exit code 1`
 * @property {readonly InFlight[]} requests latest first, as far as they are known
 *
 * @typedef {{ request: string, count: number }} InFlight `request`: method and path
 *
 * @typedef {object} Crashing
 * @property {number} crashes of the last ten seconds
 * @property {number} withinMs from the first to the last of them
 * @property {string} how the last one ended
 * @property {readonly { request: string, crashes: number }[]} requests that were in flight at them, the most suspicious
 *   first
 */

const WINDOW_MS = 10_000
const MANY = 3
const MOST_KEPT = 200
const MOST_NAMED = 3

class Crashes {
  /** @type {Crash[]} */
  #latest = []

  /** @param {Crash} crash */
  add (crash) {
    this.#latest = [...this.#latest, crash].slice(-MOST_KEPT)
  }

  /** @param {number} now @returns {Crashing | null} null: it does not crash again and again */
  describe (now) {
    this.#latest = this.#latest.filter(({ at }) => now - at < WINDOW_MS)
    const latest = this.#latest
    if (latest.length < MANY) return null
    const { at, how } = latest[latest.length - 1]
    return { crashes: latest.length, withinMs: at - latest[0].at, how, requests: suspects(latest) }
  }
}

/** @param {Crash[]} crashes @returns {Crashing['requests']} */
function suspects (crashes) {
  /** @type {Map<string, { request: string, crashes: number, count: number, place: number }>} */
  const found = new Map()
  for (const { requests } of crashes.toReversed()) {
    for (const [place, { request, count }] of requests.entries()) {
      const known = found.get(request) ?? { request, crashes: 0, count: 0, place: 0 }
      found.set(
        request, { request, crashes: known.crashes + 1, count: known.count + count, place: known.place + place }
      )
    }
  }
  const order = [...found.values()].sort((a, b) => b.crashes - a.crashes || a.count - b.count || a.place - b.place)
  return order.slice(0, MOST_NAMED).map(({ request, crashes }) => ({ request, crashes }))
}

/** @param {Pick<Crashing, 'crashes' | 'withinMs' | 'how' | 'requests'>} crashing @returns {string} */
function sayCrashing ({ crashes, withinMs, how, requests: [suspect] }) {
  return `crashing: ${crashes} in ${Math.max(1, Math.ceil(withinMs / 1000))} s, ` +
    `the last by ${how}${suspect ? ` with ${suspect.request} in flight` : ''}`
}

module.exports = { Crashes, sayCrashing }
