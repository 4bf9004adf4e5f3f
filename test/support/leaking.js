'use strict'

/**
 * Workers on paper, of which it is known what each request keeps: their points, as lib/features/leaks/route-memory.js
 * takes them.
 */

const { seeded } = require('./random')

/**
 * @param {object} how
 * @param {number} how.seed
 * @param {number} [how.routes]
 * @param {Record<number, number>} [how.kept] bytes that a request of a route keeps
 * @param {Record<number, number>} [how.garbage] bytes of a request that become old, and are freed by the next
 *   mark-sweep
 * @param {Record<number, number>} [how.brief] bytes of a request that are alive for a second
 * @param {number} [how.perSecond] bytes that are kept whatever the requests
 * @param {number} [how.noise] standard deviation of what is alive for a moment
 * @param {number} [how.walk] of what is kept or freed at random each second
 * @param {number} [how.jumps] of a table that doubles at times
 * @param {number} [how.rate] requests of each route and second
 * @param {boolean} [how.isEven] all routes get the same requests
 * @param {boolean} [how.hasProbe] the last route is a health check, once a second
 * @param {number} [how.workers]
 * @param {number} [how.seconds]
 * @param {number} [how.sweepEvery] seconds between mark-sweeps; Infinity: there is none
 * @returns {import('../../lib/features/leaks/route-memory').Point[]}
 */
function leaking ({
  seed,
  routes = 10,
  kept = {},
  garbage = {},
  brief = {},
  perSecond = 0,
  noise = 100e3,
  walk = 0,
  jumps = 0,
  rate = 10,
  isEven = false,
  hasProbe = false,
  workers = 3,
  seconds = 120,
  sweepEvery = 30
}) {
  const next = seeded(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const requestsOf = (/** @type {number} */ mean) => Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))
  const points = []
  for (let pid = 1; pid <= workers; pid++) {
    const counts = new Array(routes).fill(0)
    let [live, old, drift, markSweeps] = [20e6, 0, 0, 0]
    for (let second = 1; second <= seconds; second++) {
      const even = requestsOf(rate)
      let moment = 0
      for (let i = 0; i < routes; i++) {
        const count = isEven ? even : hasProbe && i === routes - 1 ? 1 : requestsOf(rate)
        counts[i] += count
        live += count * (kept[i] ?? 0)
        old += count * (garbage[i] ?? 0)
        moment += count * (brief[i] ?? 0)
      }
      live += perSecond + walk * normal() + (next() < 0.03 ? jumps : 0)
      drift = 0.5 * drift + noise * normal()
      if ((second + 7 * pid) % sweepEvery === 0) {
        old = 0
        markSweeps++
      }
      const requests = Object.fromEntries(counts.map((count, i) => [`GET /${'abcdefghijklmnopqrstuvwxyz'[i]}`, count]))
      points.push({
        pid, upMs: 1000 * second, liveBytes: Math.max(0, Math.round(live + old + moment + drift)), markSweeps, requests
      })
    }
  }
  return points
}

module.exports = { leaking }
