'use strict'

/** Memory by pidusage: RSS alone, wherever there is no /proc. */

const { inTime } = require('./in-time')

/** The memory of one process. */
class UsageProbe {
  /** @param {number} pid */
  constructor (pid) {
    this.pid = pid
    this.pidusage = require('pidusage')
  }

  /** @returns {Promise<import('../../../core/sample').Reading | null>} null: the process is gone */
  async read () {
    try {
      const usage = await inTime(this.pidusage(this.pid))
      return usage && { rssBytes: usage.memory, anonBytes: null, pssBytes: null, ussBytes: null, meter: 'pidusage' }
    } catch {
      return null
    }
  }

  close () {
    this.pidusage.clear()
  }
}

module.exports = { UsageProbe }
