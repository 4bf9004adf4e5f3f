'use strict'

/**
 * @param {Record<string, any>[]} workers as in status()
 * @returns {number} the sum of the event-loop utilisations of those in service
 */
function busyWorkers (workers) {
  return workers.filter(({ state }) => state === 'ready').reduce((sum, { elu }) => sum + (elu ?? 0), 0)
}

module.exports = { busyWorkers }
