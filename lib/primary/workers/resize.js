'use strict'

/**
 * @typedef {(workers: number, reason: string, how?: { leaveFirst?: readonly number[], busy?: number,
 *   requestsPerSecond?: number }) => void} Resize `leaveFirst`: slots in the order in which they are given up; `busy`:
 *   what the load is
 */

/**
 * @param {Pick<import('../part').Deps, 'fleet' | 'record' | 'changed'>} deps
 * @returns {Resize} changes how many workers there are to be
 */
function resizing ({ fleet, record, changed }) {
  return (workers, reason, { leaveFirst, ...fields } = {}) => {
    const from = fleet.desired
    fleet.resize(workers, leaveFirst)
    record('fleet.scale', { from, to: workers, reason, slots: fleet.wanted, ...fields })
    changed()
  }
}

module.exports = { resizing }
