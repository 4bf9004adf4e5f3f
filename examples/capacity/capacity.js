'use strict'

/** One cell of the table: clients log in to one server process until something gives. */

const { Swarm } = require('./swarm')
const { startAlone } = require('./subject')
const { whatGave } = require('./verdict')
const { availableBytes, clientProcesses, foresee, nextNetwork, OWN_DESCRIPTORS, RESERVE } = require('./limits')

/** Logins that each client process has under way at once. */
const WINDOW = 64
/** Clients by which what a client takes is measured. */
const FIRST = 500
/** More than the descriptors allow, so that it is seen what happens then. */
const MORE = 100
const STUCK_MS = 8000
const EXIT_MS = 500

/**
 * @typedef {object} Cell
 * @property {number} heapLimitBytes
 * @property {number} bufferBytes of each connection
 * @property {number} clients the most that were logged in
 * @property {import('./verdict').Cause} gave
 * @property {ReturnType<typeof foresee> | null} foreseen after the first clients; null: it gave before
 * @property {number} heapUsedBytes at the end, as are the next three
 * @property {number} buffersBytes
 * @property {number} residentBytes
 * @property {number} descriptors
 */

/**
 * @param {{ heapLimitBytes: number, bufferBytes: number }} subject
 * @param {import('./limits').Limits} limits
 * @param {number} cpus
 * @param {(foreseen: ReturnType<typeof foresee>) => void} say what is foreseen, before it happens
 * @returns {Promise<Cell>}
 */
async function fill ({ heapLimitBytes, bufferBytes }, limits, cpus, say) {
  const server = await startAlone({ heapLimitBytes, bufferBytes, descriptors: limits.descriptors })
  const base = await server.collect()
  const reserveBytes = availableBytes() * RESERVE
  const swarm = new Swarm(server.port, clientProcesses(
    limits.descriptors - OWN_DESCRIPTORS + MORE, limits, cpus, nextNetwork()
  ), { firstPort: limits.firstPort, window: WINDOW })
  /** @type {ReturnType<typeof foresee> | null} */
  let foreseen = null // null: it gave before there were so many
  let clients = 0
  const last = { ...base }
  let isMemoryLow = false
  const look = () => {
    clients = Math.max(clients, swarm.loggedIn)
    if (!server.exit) {
      Object.assign(last, {
        heapUsedBytes: server.heapUsedBytes,
        buffersBytes: server.buffersBytes,
        residentBytes: server.residentBytes,
        descriptors: server.descriptors
      })
    }
    isMemoryLow ||= availableBytes() < reserveBytes
    return swarm.lostCount > 0 || server.exit || isMemoryLow || swarm.loggedIn === swarm.count
  }
  await swarm.start()
  let isStuck = !await swarm.until(() => look() || swarm.loggedIn >= FIRST, STUCK_MS)
  if (!isStuck && !look()) {
    const now = await server.collect() // while logins go on
    const connections = now.descriptors - base.descriptors
    foreseen = foresee(limits, { heapLimitBytes }, {
      baseHeapBytes: base.heapUsedBytes,
      heapBytes: Math.max(1, (now.heapUsedBytes - base.heapUsedBytes) / connections),
      residentBytes: Math.max(1, (now.residentBytes - base.residentBytes) / connections)
    })
    say(foreseen)
    isStuck = !await swarm.until(look, STUCK_MS)
  }
  // Why the first client was lost is seen a moment later: the server's exit, and its last words.
  if (swarm.lostCount > 0) await swarm.until(() => server.exit, EXIT_MS)
  server.count()
  look()
  const gave = whatGave({
    ...last,
    exit: server.exit,
    stderr: server.stderr,
    descriptorLimit: limits.descriptors,
    isMemoryLow,
    lost: swarm.lost,
    isStuck,
    heapLimitBytes
  })
  await swarm.stop()
  await server.stop()
  return { heapLimitBytes, bufferBytes, clients, gave, foreseen, ...last }
}

module.exports = { fill }
