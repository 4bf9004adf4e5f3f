'use strict'

/**
 * Has a worker write a heap snapshot, out of rotation: when asked, and with `--on-condemn heapdump` when it is
 * condemned for its memory:
 *
 *     condemned for memory ─▶ out of rotation, snapshot ─▶ recycled as usual
 *
 * Where that snapshot is not written, for whatever reason, the recycle goes on. The files are this user's alone, since
 * they hold what the app holds.
 */

const fs = require('node:fs')
const path = require('node:path')
const { createPrivateFile } = require('../../primary/recycling/private-file')
const { RecycleError, notDone } = require('../../core/errors')
const { distrust } = require('../../core/folder-trust')
const { makeFolder } = require('../../native/make-folder')
/** @import { Task, TaskDone } from '../../primary/recycling/rotation' */
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const DUMP_MS = 10 * 60_000

class Heapdumps {
  /**
   * Condemned workers whose snapshot is under way, or over: written or not.
   * @type {WeakMap<WorkerHandle, 'under way' | 'over'>}
   */
  #tried = new WeakMap()
  /** When the snapshots were begun, ms, by kernel.now(). @type {number[]} */
  #takenAt = []
  /** As the folder was last looked at. */
  #usedBytes = 0
  /** @type {string | null} */
  #latest = null
  /** @type {HeapdumpFolder | null} */
  #folder

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
    const { heapdumpsPerDay, heapdumpDir } = kernel.options
    this.#folder = heapdumpsPerDay === null ? null : new HeapdumpFolder(heapdumpDir)
    if (this.#folder !== null) this.#usedBytes = this.#folder.usage().usedBytes
  }

  /** @type {import('./feature').Commands} */
  commands = {
    heapdump: async (slot, { file: asked, then } = {}) => {
      const file = this.#createFile(slot, { asked })
      const line = await this.#dump(file, 'requested',
        task => this.kernel.rotation.request(slot, { ...task, called: 'the heap snapshot' }))
      if (then !== 'recycle') return line
      const recycled = await this.kernel.commands.recycle(slot).catch(error => {
        throw error instanceof RecycleError
          ? new RecycleError(error.code, { ...error.details, written: line.file })
          : error
      })
      return { ...line, recycled }
    }
  }

  beforeRecycle = {
    /** @param {WorkerHandle} handle @returns {'due' | 'under way' | null} */
    stateOf: handle => {
      const tried = this.#tried.get(handle)
      if (tried === 'under way') return tried
      if (this.#folder === null || tried === 'over' || handle.condemnation.row?.over !== 'soft') return null
      return this.#isDue ? 'due' : null
    },
    /** @param {WorkerHandle} handle */
    run: async handle => {
      const folder = /** @type {HeapdumpFolder} */ (this.#folder)
      this.#tried.set(handle, 'under way')
      try {
        const why = this.#refusal(handle, folder)
        if (why === null) {
          await this.#dumpCondemned(handle, folder)
          this.kernel.warnings.over('heapdump')
        } else {
          this.kernel.warnings.warnOnce(
            { warning: 'heapdump', slot: handle.slot, pid: handle.pid, folder: folder.path, why })
        }
      } finally {
        this.#tried.set(handle, 'over')
        this.kernel.changed()
      }
    }
  }

  /** @param {number} slot @param {{ asked?: string, folder?: string }} how */
  #createFile (slot, how) {
    const pid = this.kernel.fleet.slots.get(slot)?.incumbent?.pid
    return createPrivateFile({ slot, pid, suffix: 'heapsnapshot', ...how })
  }

  /** @returns plain data for status(); null: without the option */
  describe () {
    if (this.#folder === null) return null
    const { heapdumpsPerDay: perDay, heapdumpLimitBytes: limitBytes } = this.kernel.options
    return {
      folder: this.#folder.path,
      perDay,
      isDue: this.#isDue,
      usedBytes: this.#usedBytes,
      limitBytes,
      latest: this.#latest
    }
  }

  get #isDue () {
    return isQuotaLeft(this.#takenAt, Number(this.kernel.options.heapdumpsPerDay), this.kernel.now())
  }

  /** @param {WorkerHandle} handle @param {HeapdumpFolder} folder */
  async #dumpCondemned (handle, folder) {
    const begunAt = this.kernel.now()
    try {
      const file = this.#createFile(Number(handle.slot), { folder: folder.path })
      const line = await this.#dump(file, /** @type {string} */ (handle.reason), async task => {
        const outcome = await this.kernel.rotation.take(
          handle, { ...task, refusal: () => this.kernel.sampler.whyHurry(handle) }
        )
        if (outcome.why !== null) throw notDone(handle.slot, 'the heap snapshot', outcome.why)
        return { ...outcome, handle }
      })
      this.#takenAt = [...this.#takenAt.slice(1 - Number(this.kernel.options.heapdumpsPerDay)), begunAt]
      this.#latest = line.file
      this.#usedBytes += line.bytes
    } catch (error) {
      if (!(error instanceof RecycleError)) throw error // `worker.in-rotation` has it
    }
  }

  /**
   * @param {string} file absolute, there already and empty @param {string} reason
   * @param {(task: Task<'heapdump'>) => Promise<TaskDone<'heapdump'> & { handle: WorkerHandle }>} take
   * @returns {Promise<import('./feature').Snapshot>}
   */
  async #dump (file, reason, take) {
    try {
      const { handle: { slot, pid }, bytes, pauseMs, moved } = await take({
        type: 'heapdump', fields: { file }, timeoutMs: DUMP_MS
      })
      return this.kernel.record('heapdump', {
        slot, pid, reason, file, bytes, moved, pauseMs: Math.round(pauseMs)
      })
    } catch (error) {
      fs.rmSync(file, { force: true })
      throw error
    }
  }

  /** @param {WorkerHandle} handle @param {HeapdumpFolder} folder @returns {string | null} */
  #refusal (handle, folder) {
    try {
      const { usedBytes, freeBytes } = folder.open().usage()
      this.#usedBytes = usedBytes
      const expectedBytes = handle.sample?.rssBytes ?? 0
      return lackOfRoom({ usedBytes, freeBytes, limitBytes: this.kernel.options.heapdumpLimitBytes }, expectedBytes)
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }
}

/**
 * `--on-condemn heapdump`: whether a heap snapshot of a condemned worker may be written. How large it becomes is not
 * known before; it is expected to be as large as the worker's memory, which holds except for heaps of very many small
 * objects.
 */

const DAY_MS = 24 * 3600 * 1000

/**
 * @param {readonly number[]} takenAt the snapshots so far: ms, by any clock that only goes forward
 * @param {number} perDay @param {number} now ms, by the same clock
 */
const isQuotaLeft = (takenAt, perDay, now) => takenAt.filter(at => now - at < DAY_MS).length < perDay

/**
 * @param {object} room @param {number} room.usedBytes size of the snapshots in the folder
 * @param {number} room.limitBytes of the folder @param {number} room.freeBytes in the file system
 * @param {number} expectedBytes @returns {string | null} why there is no room; null: there is
 */
function lackOfRoom ({ usedBytes, limitBytes, freeBytes }, expectedBytes) {
  if (usedBytes + expectedBytes > limitBytes) return 'it would exceed the limit of the folder (--heapdump-limit)'
  return expectedBytes > freeBytes ? 'the file system is nearly full' : null
}

/**
 * The folder of the heap snapshots that are written without being asked for. It is this user's alone, since a snapshot
 * holds what the app holds, and its files' names must not be another user's to choose.
 */

const EXTENSION = '.heapsnapshot'

class HeapdumpFolder {
  /** @param {string} folder */
  constructor (folder) {
    this.path = path.resolve(folder)
  }

  /** Creates it, or checks that no other user can write there. @returns {this} @throws RECYCLE_UNWRITABLE */
  open () {
    const refuse = (/** @type {string} */ why) => {
      throw new RecycleError('RECYCLE_UNWRITABLE', { file: this.path, why })
    }
    try {
      makeFolder(this.path, 0o700)
    } catch (error) {
      refuse(/** @type {Error} */ (error).message)
    }
    const why = distrust(this.path, fs.lstatSync(this.path), process.getuid?.() ?? 0)
    if (why !== null) refuse(why)
    return this
  }

  /**
   * @returns {{ usedBytes: number, freeBytes: number }} size of the snapshots in it; what is free in its file system
   */
  usage () {
    const names = fs.readdirSync(this.path).filter(name => name.endsWith(EXTENSION))
    const sizes = names.map(name => fs.lstatSync(path.join(this.path, name), { throwIfNoEntry: false })?.size ?? 0)
    const { bavail, bsize } = fs.statfsSync(this.path)
    return { usedBytes: sizes.reduce((sum, size) => sum + size, 0), freeBytes: bavail * bsize }
  }
}

module.exports = { Heapdumps, isQuotaLeft, lackOfRoom, HeapdumpFolder }
