'use strict'

/**
 * The result of a reading of another process, where it returns in time. The kernel may hold a reader for good: while a
 * page of that process is to come from a file system that does not answer, say, or behind a thread pool whose threads
 * are all held so.
 */

const PATIENCE_MS = 1000

/** @template T @param {Promise<T>} reading @returns {Promise<T | null>} null: it has not returned yet */
async function inTime (reading) {
  /** @type {NodeJS.Timeout | undefined} */
  let deadline
  // Readings that have come while this process stood still are taken first.
  const late = new Promise(resolve => { deadline = setTimeout(() => setImmediate(() => resolve(null)), PATIENCE_MS) })
  return Promise.race([reading, late]).finally(() => clearTimeout(deadline))
}

module.exports = { inTime }
