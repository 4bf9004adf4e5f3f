'use strict'

/**
 * In the report: which route leaks. After a reload or a new start the app's code may be another, so the
 * figures are those since the last one.
 */

const { short } = require('../../core/grid')
const { formatSize } = require('../../core/units')
const { asCount, asNumber } = require('../../core/journal-field')
const { MOST_ROUTES, LONGEST_ROUTE } = require('./bounds')
const { RouteMemory } = require('./route-memory')
/** @import { LineHandlers, ReadLine } from '../../lines' */

class Routes {
  #memory = new RouteMemory()
  #isSilent = true

  /** @type {LineHandlers} */
  handlers = Object.freeze({
    'fleet.start': () => this.#memory.reset(),
    'fleet.reload': () => this.#memory.reset(),
    'worker.memory': line => this.#add(line)
  })

  /** @returns null: the fleet ran without the option */
  summary () {
    return this.#isSilent ? null : this.#memory.estimate()
  }

  /** @param {ReadLine<'worker.memory'>} line */
  #add (line) {
    const [pid, upMs, liveBytes, markSweeps] = [line.pid, line.upMs, line.liveBytes, line.markSweeps].map(asNumber)
    if (pid === null || upMs === null || liveBytes === null || markSweeps === null ||
      typeof line.requests !== 'object' || line.requests === null) {
      return
    }
    this.#isSilent = false
    const requests = Object.entries(line.requests).slice(0, MOST_ROUTES)
      .map(([route, count]) => [route.slice(0, LONGEST_ROUTE), asCount(count)])
    this.#memory.add({ pid, upMs, liveBytes, markSweeps, requests: Object.fromEntries(requests) })
  }
}

/**
 * @param {import('./route-memory').Estimate} estimate which route leaks; null: the fleet ran without --memory-by-route
 * @param {import('..').Terminal} tools @returns {string[]}
 */
function linesOf ({ text, routes }, { paint, table }) {
  const leaks = routes.filter(({ leaks }) => leaks)
  if (leaks.length === 0) return [paint('dim', text)]
  const rows = leaks.map(({ route, requests, bytesPerRequest, low, high }) => [
    route, formatSize(Number(bytesPerRequest)), `${formatSize(Number(low))} to ${formatSize(Number(high))}`,
    formatSize(Number(bytesPerRequest) * requests), short(requests)
  ])
  const others = routes.length - leaks.length
  const rest = `not enough evidence that the other ${others === 1 ? 'route leaks' : `${others} routes leak`}`
  return [
    ...table(['leaking route<…', 'per request', '99.9 % interval', 'in all', 'requests'], rows, { style: 'red' }),
    paint('dim', rest)
  ]
}

module.exports = { Figures: Routes, linesOf }
