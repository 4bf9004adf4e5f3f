'use strict'

/** What gave: why a server takes no more clients, by what was seen from outside. */

/**
 * @typedef {object} Seen when the test ended
 * @property {{ code: number | null, signal: string | null } | null} exit of the server; null: it runs
 * @property {string} stderr its last words
 * @property {number} descriptors that the server had open
 * @property {number} descriptorLimit
 * @property {boolean} isMemoryLow the machine has only its reserve left
 * @property {Record<string, number>} lost clients that were refused or closed, by the error's code
 * @property {boolean} isStuck for some seconds no client was answered
 * @property {number} heapUsedBytes
 * @property {number} heapLimitBytes
 */

/**
 * @typedef {'heap' | 'off-heap buffers' | 'descriptors (EMFILE)' | "clients' descriptors (EMFILE)"
 *   | 'ports (EADDRNOTAVAIL)' | 'memory' | 'nothing' | 'unknown'} Cause
 */

/** Of its limit: above this, a server that is stuck collects garbage without end. */
const FULL_HEAP = 0.9

/** @param {Seen} seen @returns {Cause} */
function whatGave ({
  exit, stderr, descriptors, descriptorLimit, isMemoryLow, lost, isStuck, heapUsedBytes, heapLimitBytes
}) {
  if (/JavaScript heap out of memory/.test(stderr)) return 'heap'
  if (/Array buffer allocation failed|ERR_MEMORY_ALLOCATION_FAILED/.test(stderr)) return 'off-heap buffers'
  if (exit?.signal === 'SIGKILL' || isMemoryLow) return 'memory'
  if (lost.EADDRNOTAVAIL) return 'ports (EADDRNOTAVAIL)'
  if (lost.EMFILE) return "clients' descriptors (EMFILE)"
  const isLost = Object.keys(lost).length > 0
  // The kernel has accepted; libuv, without a descriptor, closes: the client sees an end or a reset.
  if ((isLost || isStuck) && descriptors >= descriptorLimit - 1) return 'descriptors (EMFILE)'
  if (isStuck && heapUsedBytes >= FULL_HEAP * heapLimitBytes) return 'heap'
  return isLost || isStuck || exit ? 'unknown' : 'nothing'
}

module.exports = { whatGave }
