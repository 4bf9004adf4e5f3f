'use strict'

const fs = require('node:fs')
const { RecycleError } = require('../../../core/errors')
const { inTime } = require('./in-time')

/**
 * @typedef {{ name: string, probe: (pid: number, worker: { budget: import('../../../tables/budget').Budget }) =>
 *   Probe }} Meter
 *
 * @typedef {object} Probe reads one worker's memory
 * @property {(now: number, inFull?: boolean | null) => Promise<import('../../../core/sample').Reading | null>} read
 * @property {() => void} close
 * @property {boolean} [isLate] the last reading in full has not returned in time
 */

/**
 * Picks the meter for this machine and checks that it can give the metric.
 * @param {{ meter: string, metric: string }} options @returns {Meter}
 * @throws {RecycleError} RECYCLE_METER_UNSUPPORTED, RECYCLE_METRIC_UNSUPPORTED
 */
function pickMeter ({ meter, metric }) {
  const name = meter === 'auto' ? best() : meter
  if (name === 'pidusage') {
    if (metric !== 'rss') {
      throw new RecycleError('RECYCLE_METRIC_UNSUPPORTED', {
        metric, meter: name, gives: 'rss alone', hint: 'use --metric rss, or a Linux with /proc/<pid>/smaps_rollup'
      })
    }
    return { name, probe: pid => new UsageProbe(pid) }
  }
  const why = unreadable(name)
  if (why) throw new RecycleError('RECYCLE_METER_UNSUPPORTED', { meter: name, why })
  const { ProcfsProbe, pageSize } = require('./procfs')
  pageSize() // while there are descriptors: it is read once
  return { name, probe: (pid, worker) => new ProcfsProbe(pid, /** @type {'smaps' | 'smaps_rollup'} */ (name), worker) }
}

const best = () => ['smaps_rollup', 'smaps'].find(name => unreadable(name) === null) ?? 'pidusage'

/**
 * Only opened: the kernel checks rights then, and a read takes milliseconds.
 * @param {string} name @returns {string | null}
 */
function unreadable (name) {
  try {
    for (const file of [name, 'statm']) fs.closeSync(fs.openSync(`/proc/self/${file}`, 'r'))
    return null
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

/** The memory of one process by pidusage: RSS alone, wherever there is no /proc. */
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

module.exports = { pickMeter, UsageProbe }
