'use strict'

/**
 * In the primary: how many file descriptors a process has open, and may have. From Linux 6.2 on the size of
 * /proc/<pid>/fd is their number (2 µs); before, its entries are counted on the thread pool, the more rarely the longer
 * that takes.
 */

const fs = require('node:fs')
const { descriptorLimit } = require('../../native/descriptor-limit')
const { inTime } = require('../../primary/measuring/meter/in-time')

const OFTEN_MS = 1000
const SHARE = 0.01 // of the time, at the most, that entries are being counted

class DescriptorProbe {
  #dueAt = -Infinity

  /** @param {number} pid @param {typeof inTime} [wait] */
  constructor (pid, wait = inTime) {
    this.wait = wait
    this.folder = `/proc/${pid}/fd`
    const limit = descriptorLimit(pid)
    this.fdLimit = limit === Infinity ? null : limit
  }

  /**
   * @param {number} now ms, by any clock that only goes forward
   * @returns {Promise<{ fds: number | null, fdLimit: number | null }>} `fds` null: not counted
   */
  async read (now) {
    return { fds: isSizeTold() ? sizeOf(this.folder) || null : await this.#count(now), fdLimit: this.fdLimit }
  }

  /** @param {number} now */
  async #count (now) {
    if (now < this.#dueAt) return null
    this.#dueAt = Infinity
    const began = performance.now()
    return this.wait(fs.promises.readdir(this.folder).then(names => names.length, () => null).finally(() => {
      this.#dueAt = now + Math.max(OFTEN_MS, (performance.now() - began) / SHARE)
    }))
  }
}

/** @type {boolean | undefined} */
let tells
const isSizeTold = () => (tells ??= sizeOf('/proc/self/fd') > 0)

/** @param {string} folder @returns {number} 0: it is not told, or the process is gone */
function sizeOf (folder) {
  try {
    return fs.statSync(folder).size
  } catch {
    return 0
  }
}

/** @returns {boolean} this system has what is read here */
const hasDescriptors = () => fs.existsSync('/proc/self/fd') && descriptorLimit() < Infinity

/** @returns {import('../interface').PrimaryPart} */
function countDescriptors () {
  return {
    probe ({ pid }) {
      const probe = new DescriptorProbe(pid)
      return at => probe.read(at)
    }
  }
}

module.exports = { DescriptorProbe, countDescriptors, hasDescriptors }
