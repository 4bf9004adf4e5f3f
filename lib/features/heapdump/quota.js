'use strict'

/**
 * `--on-condemn heapdump`: whether a heap snapshot of a condemned worker may be written. How large it becomes is not
 * known before; it is expected to be as large as the worker's memory, which holds except for heaps of very many small
 * objects.
 */

const DAY_MS = 24 * 3600 * 1000

/**
 * @param {readonly number[]} takenAt the snapshots so far: ms, by any clock that only goes forward
 * @param {number} perDay @param {number} now ms, by the same clock
 */
function isQuotaLeft (takenAt, perDay, now) {
  return takenAt.filter(at => now - at < DAY_MS).length < perDay
}

/**
 * @param {object} room @param {number} room.usedBytes size of the snapshots in the folder
 * @param {number} room.limitBytes of the folder
 * @param {number} room.freeBytes in the file system
 * @param {number} expectedBytes @returns {string | null} why there is no room; null: there is
 */
function lackOfRoom ({ usedBytes, limitBytes, freeBytes }, expectedBytes) {
  if (usedBytes + expectedBytes > limitBytes) return 'it would exceed the limit of the folder (--heapdump-limit)'
  return expectedBytes > freeBytes ? 'the file system is nearly full' : null
}

module.exports = { isQuotaLeft, lackOfRoom }
