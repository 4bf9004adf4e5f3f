'use strict'

/**
 * How busy a process keeps the CPUs, by the times in Linux's /proc/<pid>/stat. Those count hundredths of a second, in
 * all threads, so a reading wants a while between two looks.
 */

const { statFields } = require('../../../native/proc')
const { ProcFile } = require('./proc-file')

const TICK_MS = 10 // USER_HZ is 100 on every Linux that Node runs on
const SHORTEST_MS = 1000

class CpuProbe {
  /** Of one CPU, from 0 on; null: not known (yet). @type {number | null} */
  percent = null
  #stat
  /** @type {{ at: number, usedMs: number } | null} */
  #last = null

  /** @param {number} pid */
  constructor (pid) {
    this.#stat = new ProcFile(pid, 'stat')
  }

  /** @param {number} now ms, by any clock that only goes forward */
  look (now) {
    if (this.#last && now - this.#last.at < SHORTEST_MS) return
    const usedMs = this.#used()
    if (usedMs === null) return
    if (this.#last) this.percent = Math.max(0, Math.round(100 * (usedMs - this.#last.usedMs) / (now - this.#last.at)))
    this.#last = { at: now, usedMs }
  }

  close () {
    this.#stat.close()
  }

  /** @returns {number | null} */
  #used () {
    const length = this.#stat.readSync()
    if (length === 0) return null // no Linux, or it has exited
    const fields = statFields(this.#stat.bytes.toString('latin1', 0, length))
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  }
}

module.exports = { CpuProbe }
