'use strict'

/**
 * What a primary and its workers use, from /proc: CPU time, page faults, context switches, resident memory.
 *
 * The kernel adds the CPU time and the faults of a child that was waited for to its parent's account (cutime, cstime,
 * cminflt, cmajflt), so a worker that was replaced is still counted. Context switches have no such account: those of a
 * worker that is gone are known by the last look.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')

const isLinux = process.platform === 'linux'
const pageBytes = isLinux ? Number(execFileSync('getconf', ['PAGESIZE'])) : 4096
const tickMs = isLinux ? 1000 / Number(execFileSync('getconf', ['CLK_TCK'])) : 10

/**
 * @typedef {object} Used of a whole tree of processes, since it was started
 * @property {number} cpuMs user and system
 * @property {number} minorFaults pages that had to be mapped, without a disk
 * @property {number} majorFaults
 */

/** @param {number} pid @returns {number[]} itself and its descendants that are alive */
function pidsOf (pid) {
  const pids = [pid]
  for (let i = 0; i < pids.length; i++) {
    const children = read(`/proc/${pids[i]}/task/${pids[i]}/children`)
    pids.push(...(children ?? '').trim().split(' ').filter(Boolean).map(Number))
  }
  return pids
}

/** @param {number} pid of the primary @returns {Used} @throws {Error} where there is no /proc, or no such process */
function usedBy (pid) {
  for (let tries = 0; ; tries++) {
    const before = accountOf(pid)
    if (!before) throw new Error(`no /proc/${pid}/stat`)
    const others = pidsOf(pid).slice(1).map(accountOf)
    const after = accountOf(pid)
    // A child that was reaped in between would be missed, or counted twice.
    if (after?.reapedMs !== before.reapedMs && tries < 10) continue
    const sum = (/** @type {'cpuMs' | 'minorFaults' | 'majorFaults'} */ key) =>
      others.reduce((sum, account) => sum + (account?.[key] ?? 0), before[key])
    return { cpuMs: sum('cpuMs'), minorFaults: sum('minorFaults'), majorFaults: sum('majorFaults') }
  }
}

/** Its own account and that of the children it has waited for. @param {number} pid */
function accountOf (pid) {
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ').map(Number)
  if (!fields) return null
  const [minflt, cminflt, majflt, cmajflt, utime, stime, cutime, cstime] = fields.slice(7, 15)
  return {
    cpuMs: (utime + stime + cutime + cstime) * tickMs,
    minorFaults: minflt + cminflt,
    majorFaults: majflt + cmajflt,
    reapedMs: (cutime + cstime) * tickMs
  }
}

/** @param {number} pid @returns {number} 0 where it is gone */
function rssOf (pid) {
  return Number(read(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * pageBytes
}

/** Reads a tree of processes again and again: what it used between the constructor and `stop`. */
class Usage {
  #peak = 0
  #sum = 0
  #looks = 0
  /** @type {Map<number, number>} */
  #switches = new Map()

  /** @param {number} pid of the primary @param {number} [everyMs] */
  constructor (pid, everyMs = 100) {
    this.pid = pid
    if (!isLinux) return
    this.before = usedBy(pid)
    this.#look()
    this.switchesBefore = this.#switched()
    this.timer = setInterval(() => this.#look(), everyMs)
  }

  /**
   * @returns {Used & { switches: number, rssPeakBytes: number, rssMeanBytes: number } | null} null where there is no
   *   /proc; `switches`: context switches, those of the threads too
   */
  stop () {
    if (!this.before) return null
    clearInterval(this.timer)
    this.#look()
    const { cpuMs, minorFaults, majorFaults } = usedBy(this.pid)
    return {
      cpuMs: cpuMs - this.before.cpuMs,
      minorFaults: minorFaults - this.before.minorFaults,
      majorFaults: majorFaults - this.before.majorFaults,
      switches: this.#switched() - Number(this.switchesBefore),
      rssPeakBytes: this.#peak,
      rssMeanBytes: Math.round(this.#sum / this.#looks)
    }
  }

  #look () {
    const pids = pidsOf(this.pid)
    const rss = pids.reduce((sum, pid) => sum + rssOf(pid), 0)
    this.#peak = Math.max(this.#peak, rss)
    this.#sum += rss
    this.#looks++
    for (const pid of pids) this.#switches.set(pid, switchesOf(pid) ?? this.#switches.get(pid) ?? 0)
  }

  #switched () {
    return [...this.#switches.values()].reduce((sum, switches) => sum + switches, 0)
  }
}

/** @param {number} pid */
function switchesOf (pid) {
  const threads = list(`/proc/${pid}/task`)
  if (!threads) return undefined
  return threads.reduce((sum, thread) => {
    const found = read(`/proc/${pid}/task/${thread}/status`)?.matchAll(/ctxt_switches:\s+(\d+)/g) ?? []
    return [...found].reduce((sum, [, count]) => sum + Number(count), sum)
  }, 0)
}

/** @param {string} file @returns {string | undefined} */
function read (file) {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {} // the process is gone
}

/** @param {string} folder @returns {string[] | undefined} */
function list (folder) {
  try {
    return fs.readdirSync(folder)
  } catch {} // likewise
}

module.exports = { Usage, pidsOf, usedBy, rssOf }
