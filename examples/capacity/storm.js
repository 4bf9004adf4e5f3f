'use strict'

/** The login storm: all clients at once, and then a ping of each. */

const { Swarm } = require('./swarm')
const { startAlone, startFleet } = require('./subject')
const { clientProcesses, nextNetwork, readCounters } = require('./limits')

const PATIENCE_MS = 65_000 // a client gives a login up after 60 s
const ENOUGH_HEAP_BYTES = 4 * 1024 ** 3

/**
 * @typedef {object} Storm
 * @property {string} subject
 * @property {number} clients
 * @property {number} loggedIn
 * @property {number} overMs from the first connect() to the last answer
 * @property {Times} login round trip
 * @property {number} unanswered pings
 * @property {Times} ping round trip
 * @property {Record<string, number>} lost clients that were refused or closed, by the error's code
 * @property {ReturnType<typeof readCounters>} kernel what it counted meanwhile
 * @property {{ recycles: number, cut: number, crashes: number } | null} fleet null: no fleet
 */
/** @typedef {{ min: number, p50: number, p99: number, max: number } | null} Times in ms */

/**
 * @param {{ clients: number, bufferBytes: number, pingsMs: number, maxRss: string | null, workers: string }} how
 *   `maxRss` null: one process without recycle
 * @param {import('./limits').Limits} limits
 * @param {number} cpus
 * @returns {Promise<Storm>}
 */
async function storm ({ clients, bufferBytes, pingsMs, maxRss, workers }, limits, cpus) {
  const fleet = maxRss === null ? null : await startFleet({ bufferBytes, maxRss, workers })
  const server = fleet ??
    await startAlone({ heapLimitBytes: ENOUGH_HEAP_BYTES, bufferBytes, descriptors: limits.descriptors })
  const swarm = new Swarm(
    server.port, clientProcesses(clients, limits, cpus, nextNetwork()), { firstPort: limits.firstPort }
  )
  const before = readCounters()
  try {
    await swarm.start()
    const began = performance.now()
    await swarm.until(() => swarm.loginsMs.length + swarm.lostCount >= clients, PATIENCE_MS)
    const overMs = performance.now() - began
    const { loggedIn } = swarm
    swarm.ping(pingsMs)
    await swarm.until(() => swarm.pingsMs.length + (loggedIn - swarm.loggedIn) >= loggedIn, PATIENCE_MS)
    const recycled = fleet ? fleet.events.filter(({ event }) => event === 'recycled') : []
    return {
      subject: fleet ? `recycle --max-rss ${maxRss}` : 'one process',
      clients,
      loggedIn,
      overMs,
      login: times(swarm.loginsMs),
      unanswered: loggedIn - swarm.pingsMs.length,
      ping: times(swarm.pingsMs),
      lost: swarm.lost,
      kernel: {
        overflows: readCounters().overflows - before.overflows,
        cookiesFailed: readCounters().cookiesFailed - before.cookiesFailed
      },
      fleet: fleet && { recycles: recycled.length, cut: recycled.reduce((sum, { cut }) => sum + cut, 0), crashes: fleet.events.filter(({ event }) => event === 'worker.crash').length }
    }
  } finally {
    await swarm.stop()
    await server.stop()
  }
}

/** @param {number[]} values @returns {Times} null: there are none */
function times (values) {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { min: sorted[0], p50: at(0.5), p99: at(0.99), max: sorted[sorted.length - 1] }
}

/** Whether the server held all clients, or what it shed. @param {Storm} storm @returns {string} */
function outcome ({ clients, loggedIn, lost, unanswered, kernel }) {
  const whys = Object.entries(lost).map(([why, count]) => `${count.toLocaleString('en')} ${why}`)
  if (whys.length === 0 && loggedIn === clients && unanswered === 0) return `holds all ${clients.toLocaleString('en')}`
  const shed = Object.values(lost).reduce((sum, count) => sum + count, 0)
  const rest = [...whys, ...kernel.cookiesFailed > 0 ? [`${kernel.cookiesFailed.toLocaleString('en')} by the kernel, whose queue was full`] : [], ...unanswered > 0 ? [`${unanswered.toLocaleString('en')} pings unanswered`] : []]
  return `sheds ${shed.toLocaleString('en')} of ${clients.toLocaleString('en')} (${rest.join(', ')})`
}

module.exports = { storm, outcome, times }
