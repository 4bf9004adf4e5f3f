'use strict'

/**
 * In the primary: how many file descriptors a process has open, and may have. From Linux 6.2 on the size of
 * /proc/<pid>/fd is their number (2 µs); before, its entries are counted on the thread pool, the more rarely the longer
 * that takes.
 */

const fs = require('node:fs')
const { attempt } = require('../../core/attempt')
const { descriptorLimit } = require('../../native/descriptor-limit')
const { inTime } = require('../../primary/measuring/meter/in-time')

const OFTEN_MS = 1000
const SHARE = 0.01 // of the time, at the most, that entries are being counted

/**
 * @param {number} pid
 * @returns {(now: number) => Promise<{ fds: number | null, fdLimit: number | null }>} reads them; `fds` null: not
 *   counted, `now`: ms, by any clock that only goes forward
 */
function descriptorProbe (pid) {
  const folder = `/proc/${pid}/fd`
  const limit = descriptorLimit(pid)
  let dueAt = -Infinity
  const count = (/** @type {number} */ now) => {
    if (now < dueAt) return null
    dueAt = Infinity
    const began = performance.now()
    return inTime(fs.promises.readdir(folder).then(names => names.length, () => null).finally(() => {
      dueAt = now + Math.max(OFTEN_MS, (performance.now() - began) / SHARE)
    }))
  }
  return async now =>
    ({ fds: isSizeTold() ? sizeOf(folder) || null : await count(now), fdLimit: limit === Infinity ? null : limit })
}

/** @type {boolean | undefined} */
let tells
const isSizeTold = () => (tells ??= sizeOf('/proc/self/fd') > 0)

/** @param {string} folder @returns {number} 0: it is not told, or the process is gone */
const sizeOf = folder => attempt(() => fs.statSync(folder).size, 0)

/** @returns {boolean} this system has what is read here */
const hasDescriptors = () => fs.existsSync('/proc/self/fd') && descriptorLimit() < Infinity

module.exports = { descriptorProbe, hasDescriptors }
