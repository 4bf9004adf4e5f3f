'use strict'

/**
 * The workers of any supervisor, observed from outside: by the file that each writes into a folder when it listens
 * (sign-roster.js), and by /proc until it has exited.
 */

const fs = require('node:fs')
const { temporaryFolder } = require('./folder')
const { rssOf } = require('./usage')

const LOOK_EVERY_MS = 50

/**
 * @typedef {{ pid: number, bootAt: number, readyAt: number, endAt: number | null }} Seen times in ms since the epoch
 */

class Roster {
  /** @type {Map<string, Seen>} */
  #seen = new Map()
  /** The highest RSS of one worker, and of all together. */
  peakBytes = 0
  peakFleetBytes = 0
  #timer

  constructor () {
    this.folder = temporaryFolder()
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /** In the order in which they were ready. */
  get workers () {
    return [...this.#seen.values()].sort((a, b) => a.readyAt - b.readyAt)
  }

  get alive () {
    return this.workers.filter(({ endAt }) => endAt === null)
  }

  /**
   * Workers that have been replaced since `t`: they have ended, or, where they are threads of one process, others have
   * come.
   *
   * @param {number} t
   */
  replacedSince (t) {
    const { workers } = this
    const came = workers.filter(({ readyAt }) => readyAt >= t).length
    return new Set(workers.map(({ pid }) => pid)).size === 1
      ? came
      : workers.filter(({ endAt }) => endAt !== null && endAt >= t).length
  }

  /**
   * The times of replacements: from the boot of the new worker or the end of the old one, whichever is first, to the
   * readiness of the new one or the end of the old one, whichever is last. The nth new worker replaces the nth that
   * ended.
   *
   * @param {number} from
   * @param {number} to
   * @returns {[number, number][]} they may overlap
   */
  changes (from, to) {
    const came = this.workers.filter(({ readyAt }) => readyAt > from)
    const went = this.workers.filter(({ endAt }) => endAt !== null && endAt > from)
      .sort((a, b) => Number(a.endAt) - Number(b.endAt))
    return Array.from({ length: Math.max(came.length, went.length) }, (_, i) => {
      const { bootAt = to, readyAt = to } = came[i] ?? {}
      const endAt = went[i]?.endAt ?? to
      return [Math.min(bootAt, endAt), Math.max(readyAt, endAt)]
    })
  }

  #look () {
    for (const name of fs.readdirSync(this.folder)) {
      if (this.#seen.has(name)) continue
      const [pid, bootAt, readyAt] = name.split('-').map(Number)
      this.#seen.set(name, { pid, bootAt, readyAt, endAt: null })
    }
    let fleetBytes = 0
    for (const worker of this.alive) {
      const bytes = rssOf(worker.pid)
      if (bytes === 0) worker.endAt = Date.now()
      this.peakBytes = Math.max(this.peakBytes, bytes)
      fleetBytes += bytes
    }
    this.peakFleetBytes = Math.max(this.peakFleetBytes, fleetBytes)
  }

  /** Kills the worker that has been ready for longest, where there are two. */
  killOldest () {
    const { alive: [oldest, ...others] } = this
    if (others.length > 0) kill(oldest.pid)
  }

  /** Ends the remaining workers: a disconnected worker outlives its primary. */
  close () {
    clearInterval(this.#timer)
    this.#look()
    for (const { pid } of this.alive) kill(pid)
  }
}

/** @param {number} pid */
function kill (pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // it has exited
}

module.exports = { Roster }
