'use strict'

/**
 * Notes, at each event of a fleet, how many workers are ready and how many are alive.
 *
 * @param {any} supervisor
 * @returns {{ fewestReady: number, mostAlive: number }} so far
 */
function trackFleetSize (supervisor) {
  const seen = { fewestReady: Infinity, mostAlive: 0 }
  supervisor.on('event', () => {
    const { workers, totals } = supervisor.status()
    seen.fewestReady = Math.min(seen.fewestReady, totals.ready)
    seen.mostAlive = Math.max(seen.mostAlive, workers.length)
  })
  return seen
}

module.exports = { trackFleetSize }
