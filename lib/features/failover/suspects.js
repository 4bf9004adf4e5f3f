'use strict'

/**
 * Requests that were in flight in a worker that has died: any of them may have ended it, and the next worker that has
 * it dies, too. So each is tried where no other suspect is: in a worker of its own, the latest begun first, until it is
 * answered, or its app has had it for as long as the dead worker. What has waited for some seconds goes on all the
 * same: the others are not to wait for a request that takes its time, nor for those of workers that die meanwhile.
 */

const { performance } = require('node:perf_hooks')
const { clearInterval, setInterval } = require('node:timers')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Copy } from '../../worker/connections/parcel' */

/**
 * @typedef {object} Suspect
 * @property {unknown} socket
 * @property {number} ageMs how long the dead worker had it
 * @property {string} key of its server
 * @property {(apart: ReadonlySet<WorkerHandle>) => void} give to a worker, to those of `apart` if no other takes it
 *
 * @typedef {object} Trial
 * @property {Suspect} suspect
 * @property {number} until ms, performance.now()
 * @property {number} latest the same, also where its worker is slow to read it
 * @property {WorkerHandle | null} worker null: it is on its way
 * @property {Copy | null} copy
 */

const LOOK_MS = 20
const SLACK_MS = 100 // for a worker that is slower than the dead one
const LONGEST_TRIAL_MS = 1000
const PATIENCE_MS = 3000 // while workers serve

class Suspects {
  /** The latest begun last; `leftMs`: how long each waits yet. @type {(Suspect & { leftMs: number })[]} */
  #waiting = []
  /** @type {Set<Trial>} */
  #trials = new Set()
  /** ms, performance.now(). */
  #lookedAt = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {() => readonly WorkerHandle[] | null} serving null: the fleet is stopping, and nothing is to wait
   * @param {(worker: WorkerHandle, copy: Copy) => boolean | null} isSeen whether the app has the request that this
   *   worker has noted there; null: it is not in flight
   */
  constructor (serving, isSeen) {
    this.serving = serving
    this.isSeen = isSeen
  }

  /** @param {Suspect[]} suspects of one worker */
  add (suspects) {
    if (suspects.length === 0) return
    this.#look()
    const more = suspects.map(suspect => ({ ...suspect, leftMs: PATIENCE_MS }))
    this.#waiting = [...this.#waiting, ...more].sort((a, b) => b.ageMs - a.ageMs)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
    this.#look()
  }

  /** A worker has one of them, perhaps. @param {unknown} socket @param {WorkerHandle} worker @param {Copy} copy */
  kept (socket, worker, copy) {
    for (const trial of this.#trials) {
      if (trial.suspect.socket !== socket) continue
      const now = performance.now()
      const latest = now + LONGEST_TRIAL_MS
      Object.assign(trial, { worker, copy, latest, until: Math.min(latest, now + trial.suspect.ageMs + SLACK_MS) })
    }
  }

  #look () {
    const now = performance.now()
    const serving = this.serving()
    const waitedMs = serving?.length === 0 ? 0 : now - this.#lookedAt // without any they wait for the next worker
    this.#lookedAt = now
    for (const trial of this.#trials) if (this.#isOver(trial, now)) this.#trials.delete(trial)
    for (const suspect of this.#waiting) suspect.leftMs -= waitedMs
    const isDue = (/** @type {{ leftMs: number }} */ { leftMs }) => serving === null || leftMs <= 0
    const due = this.#waiting.filter(isDue)
    this.#waiting = this.#waiting.filter(suspect => !isDue(suspect))
    for (const suspect of due) this.#try(suspect)
    const mayGo = () => serving !== null && this.#hasRoom(serving)
    while (this.#waiting.length > 0 && mayGo()) this.#try(this.#waiting.pop())
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Workers that have one. */
  get #apart () {
    return new Set([...this.#trials].flatMap(({ worker }) => worker ?? []))
  }

  /** @param {readonly WorkerHandle[]} serving */
  #hasRoom (serving) {
    const suspect = this.#waiting[this.#waiting.length - 1]
    const able = serving.filter(({ addresses }) => addresses.has(suspect.key))
    // Where one is on its way to is not known
    return able.length > 0 && this.#trials.size < able.length &&
      [...this.#trials].every(({ worker }) => worker !== null)
  }

  /** @param {Suspect} [suspect] */
  #try (suspect) {
    if (!suspect) return
    const apart = this.#apart
    const until = performance.now() + 2 * LONGEST_TRIAL_MS
    this.#trials.add({ suspect, until, latest: until, worker: null, copy: null })
    suspect.give(apart)
  }

  /** @param {Trial} trial @param {number} now */
  #isOver (trial, now) {
    const { worker, copy } = trial
    if (worker !== null && copy !== null) {
      const isSeen = worker.isGone ? null : this.isSeen(worker, copy)
      if (isSeen === null) return true
      if (!isSeen) trial.until = Math.min(trial.latest, now + trial.suspect.ageMs + SLACK_MS)
    }
    return now >= trial.until
  }
}

module.exports = { Suspects }
