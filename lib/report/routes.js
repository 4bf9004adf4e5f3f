'use strict'

/**
 * Which route leaks, of a fleet with `--memory-by-route`. After a reload or a new start the app's code may be another, so the
 * figures are those since the last one.
 */

const { MOST_ROUTES, LONGEST_ROUTE } = require('../core/message')
const { RouteMemory } = require('../core/route-memory')
const { asCount, asNumber } = require('./journal-field')

class Routes {
  #memory = new RouteMemory()
  #isSilent = true

  /** @type {Readonly<Record<string, (line: Record<string, any>) => void>>} */
  handlers = Object.freeze({
    'fleet.start': () => this.#memory.reset(),
    'fleet.reload': () => this.#memory.reset(),
    'worker.memory': line => this.#add(line)
  })

  /** @returns null: the fleet ran without the option */
  summary () {
    return this.#isSilent ? null : this.#memory.estimate()
  }

  /** @param {Record<string, any>} line */
  #add (line) {
    const [pid, upMs, liveBytes, markSweeps] = [line.pid, line.upMs, line.liveBytes, line.markSweeps].map(asNumber)
    if (pid === null || upMs === null || liveBytes === null || markSweeps === null || typeof line.requests !== 'object' || line.requests === null) return
    this.#isSilent = false
    const requests = Object.entries(line.requests).slice(0, MOST_ROUTES).map(([route, count]) => [route.slice(0, LONGEST_ROUTE), asCount(count)])
    this.#memory.add({ pid, upMs, liveBytes, markSweeps, requests: Object.fromEntries(requests) })
  }
}

module.exports = { Routes }
