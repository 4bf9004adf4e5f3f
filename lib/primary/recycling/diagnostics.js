'use strict'

/**
 * Looks inside a worker: a heap snapshot, for which it leaves rotation, and a CPU profile, taken while it serves. Both are
 * written to files that only this user can read, since they hold what the app holds.
 */

const fs = require('node:fs')
const path = require('node:path')
const { RecycleError } = require('../../core/errors')

const DUMP_MS = 10 * 60_000
const WRITE_MS = 60_000
const LONGEST_MS = 10 * 60_000

class Diagnostics {
  /**
   * @param {object} deps
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('./out-of-rotation').OutOfRotation} deps.outOfRotation
   * @param {(event: string, fields: Record<string, any>) => Record<string, any>} deps.record
   */
  constructor ({ fleet, outOfRotation, record }) {
    this.fleet = fleet
    this.outOfRotation = outOfRotation
    this.record = record
  }

  /**
   * @param {number} slot
   * @param {string} [asked]
   * @returns {Promise<Record<string, any>>} the journal's `heapdump`
   * @throws {RecycleError} RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE
   */
  async dumpHeap (slot, asked) {
    const file = create(asked ?? this.#nameFor(slot, 'heapsnapshot'))
    return this.#dump(file, 'requested', task => this.outOfRotation.request(slot, { ...task, called: 'the heap snapshot' }))
  }

  /**
   * Of a worker that is going to be recycled.
   *
   * @param {import('../workers/worker-handle').WorkerHandle} handle
   * @param {string} folder
   * @param {() => Promise<string | null>} refusal see Task in out-of-rotation.js
   * @returns {Promise<Record<string, any> | null>} the journal's `heapdump`; null: it was not written
   */
  async dumpCondemned (handle, folder, refusal) {
    try {
      const file = create(path.join(folder, this.#nameFor(Number(handle.slot), 'heapsnapshot')))
      return await this.#dump(file, /** @type {string} */ (handle.reason), async task => {
        const outcome = await this.outOfRotation.take(handle, { ...task, refusal })
        if (outcome.why !== null) throw new RecycleError('RECYCLE_NOT_DONE', { slot: handle.slot, what: 'the heap snapshot', why: outcome.why })
        return { ...outcome, handle }
      })
    } catch (error) {
      if (error instanceof RecycleError) return null // `worker.in-rotation` has it
      throw error
    }
  }

  /**
   * @param {string} file absolute, there already and empty
   * @param {string} reason
   * @param {(task: import('./out-of-rotation').Task) => Promise<import('./out-of-rotation').Outcome & { handle: import('../workers/worker-handle').WorkerHandle }>} take
   */
  async #dump (file, reason, take) {
    try {
      const { handle: { slot, pid }, bytes, pauseMs, moved } = await take({ type: 'heapdump', fields: { file }, timeoutMs: DUMP_MS })
      return this.record('heapdump', { slot, pid, reason, file, bytes, moved, pauseMs: Math.round(pauseMs) })
    } catch (error) {
      fs.rmSync(file, { force: true })
      throw error
    }
  }

  /**
   * @param {number} slot
   * @param {number} durationMs
   * @param {string} [asked]
   * @returns {Promise<Record<string, any>>} the journal's `cpuprofile`
   * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE
   */
  async profileCpu (slot, durationMs, asked) {
    if (!(Number.isInteger(durationMs) && durationMs >= 1 && durationMs <= LONGEST_MS)) {
      throw new RecycleError('RECYCLE_BAD_OPTION', { option: 'durationMs', given: durationMs, accepts: `a whole number of milliseconds from 1 to ${LONGEST_MS}` })
    }
    const handle = this.fleet.slots.get(slot)?.incumbent
    const refuse = (/** @type {string} */ why) => new RecycleError('RECYCLE_NOT_DONE', { slot, what: 'the CPU profile', why })
    if (!handle?.isServing) throw refuse(handle ? `its worker is ${handle.state}` : 'it has no worker at the moment')
    const file = create(asked ?? this.#nameFor(slot, 'cpuprofile'))
    const { why, bytes, tookMs } = await handle.call('profile', { durationMs, file }, durationMs + WRITE_MS)
    if (why === null) return this.record('cpuprofile', { slot, pid: handle.pid, file, bytes, tookMs: Math.round(tookMs) })
    fs.rmSync(file, { force: true })
    throw refuse(why)
  }

  /** @param {number} slot @param {string} suffix @returns {string} a file in the primary's working directory */
  #nameFor (slot, suffix) {
    const pid = this.fleet.slots.get(slot)?.incumbent?.pid ?? 0
    const time = new Date().toISOString() // eslint-disable-line no-restricted-syntax -- a time of day, for people
    return `slot-${slot}-${pid}-${time.replace(/[:.]/g, '-')}.${suffix}`
  }
}

/**
 * Makes the file beforehand: nothing that is there is overwritten or followed, and what cannot be written is known before
 * anything is done to a worker.
 *
 * @param {string} file
 * @returns {string} absolute
 * @throws {RecycleError} RECYCLE_UNWRITABLE
 */
function create (file) {
  const absolute = path.resolve(file)
  try {
    fs.closeSync(fs.openSync(absolute, 'wx', 0o600))
    return absolute
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new RecycleError('RECYCLE_UNWRITABLE', { file: absolute, why: code === 'EEXIST' ? 'there is such a file already' : message })
  }
}

module.exports = { Diagnostics }
