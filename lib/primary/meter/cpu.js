'use strict'

/**
 * How busy a process keeps the CPUs, by the times in Linux's /proc/<pid>/stat. Those count hundredths of a second, in
 * all threads, so a reading wants a while between two looks.
 */

const fs = require('node:fs')

const TICK_MS = 10 // USER_HZ is 100 on every Linux that Node runs on
const SHORTEST_MS = 1000

class CpuProbe {
  /** Of one CPU, from 0 on; null: not known (yet). @type {number | null} */
  percent = null
  /** @type {number | null} */
  #stat = null
  #buffer = Buffer.alloc(512)
  /** @type {{ at: number, usedMs: number } | null} */
  #last = null

  /** @param {number} pid */
  constructor (pid) {
    try {
      this.#stat = fs.openSync(`/proc/${pid}/stat`, 'r')
    } catch {} // no Linux, or it has exited
  }

  /** @param {number} now ms since the epoch */
  look (now) {
    if (this.#stat === null || (this.#last && now - this.#last.at < SHORTEST_MS)) return
    const usedMs = this.#used()
    if (usedMs === null) return
    if (this.#last) this.percent = Math.max(0, Math.round(100 * (usedMs - this.#last.usedMs) / (now - this.#last.at)))
    this.#last = { at: now, usedMs }
  }

  close () {
    if (this.#stat !== null) fs.closeSync(this.#stat)
    this.#stat = null
  }

  /** @returns {number | null} */
  #used () {
    try {
      const length = fs.readSync(/** @type {number} */ (this.#stat), this.#buffer, 0, this.#buffer.length, 0)
      const text = this.#buffer.toString('latin1', 0, length)
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // the name before it may hold anything
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    } catch {
      return null // ESRCH: it has exited
    }
  }
}

module.exports = { CpuProbe }
