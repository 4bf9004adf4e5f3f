'use strict'

/**
 * @typedef {(workers: number, reason: string, how?: { leaveFirst?: readonly number[], busy?: number,
 *   requestsPerSecond?: number }) => void} Resize `leaveFirst`: slots in the order of leaving; `busy`: the load
 */

/** @param {Pick<import('../part').Deps, 'fleet' | 'record' | 'changed'>} deps @returns {Resize} sets a fleet's size */
function resizing ({ fleet, record, changed }) {
  return (workers, reason, { leaveFirst, ...fields } = {}) => {
    const from = fleet.desired
    fleet.resize(workers, leaveFirst)
    record('fleet.scale', { from, to: workers, reason, slots: fleet.wanted, ...fields })
    changed()
  }
}

module.exports = { resizing }
