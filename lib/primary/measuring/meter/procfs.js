'use strict'

/**
 * Memory by Linux's /proc.
 *
 * statm stands guard: 1.2 µs on a descriptor kept open, whatever the worker's size. Its RSS, and its anonymous memory
 * (resident less shared: no pages of files), agree with smaps. The kernel sums smaps_rollup up page by page (0.5 ms at
 * 50 MB, 9 ms at 1 GB), so it is read on the thread pool, and only when it matters: near the budget, and every so often
 * for the record. It alone knows PSS and USS.
 *
 * Some kernels keep statm's counters in batches per CPU, and statm lags behind by up to max(32, 2×CPUs) pages a CPU; at
 * 80 % of the budget that error cannot hide a crossing.
 */

const fs = require('node:fs')
const os = require('node:os')
const { ProcFile } = require('./proc-file')
const { inTime } = require('./in-time')

const NEAR = 0.8
const RECORD_EVERY_MS = 10_000
const KIB = 1024
const SPACE = 32
const KEYS = /** @type {Record<string, 'rssBytes' | 'anonBytes' | 'pssBytes'>} */ ({
  Rss: 'rssBytes', Anonymous: 'anonBytes', Pss: 'pssBytes'
})
const ZERO = 48

/** @type {number | undefined} */
let pageBytes

/** Node does not tell the size of a page; both of these count this process in it. */
function pageSize () {
  if (pageBytes === undefined) {
    const pages = Number(fs.readFileSync('/proc/self/statm', 'latin1').split(' ')[1])
    pageBytes = 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages))
  }
  return pageBytes
}

/** @type {number | undefined} */
let errorBytes

/** How far statm's RSS may be off. */
function statmErrorBytes () {
  if (errorBytes === undefined) {
    const cpus = os.cpus().length // parses /proc/cpuinfo: 25 µs a CPU
    errorBytes = Math.max(32, 2 * cpus) * cpus * pageSize()
  }
  return errorBytes
}

/**
 * The sums of a smaps or smaps_rollup file.
 * @param {string} text
 * @returns {{ rssBytes: number, anonBytes: number, pssBytes: number, ussBytes: number }} USS is Private_Clean +
 *   Private_Dirty
 */
function parseSmaps (text) {
  const sum = { rssBytes: 0, anonBytes: 0, pssBytes: 0, ussBytes: 0 }
  for (const [, name, kib] of text.matchAll(/^(Rss|Anonymous|Pss|Private_Clean|Private_Dirty): +(\d+) kB$/gm)) {
    sum[KEYS[name] ?? 'ussBytes'] += Number(kib) * KIB
  }
  return sum
}

/**
 * Of statm: numbers of pages between single spaces, without a string being made of them.
 * @param {Buffer} bytes @returns {{ rssBytes: number, anonBytes: number }}
 */
function residentOf (bytes) {
  let at = bytes.indexOf(SPACE)
  const next = () => {
    let number = 0
    for (let byte; (byte = bytes[++at]) > SPACE;) number = 10 * number + byte - ZERO
    return number
  }
  const [resident, shared] = [next(), next()]
  return { rssBytes: resident * pageSize(), anonBytes: Math.max(0, resident - shared) * pageSize() }
}

/** The memory of one process. */
class ProcfsProbe {
  #statm
  /** @type {ProcFile | null} null: `smaps` is read instead */
  #rollup = null
  /**
   * The last full reading, with what statm said then.
   * @type {{ at: number, guardBytes: number, full: ReturnType<typeof parseSmaps> } | null}
   */
  #last = null
  /** A full reading is under way. */
  #isReading = false
  /** The last full reading has not returned in time. */
  isLate = false

  /**
   * @param {number} pid @param {'smaps_rollup' | 'smaps'} file
   * @param {{ budget: import('../../../tables/budget').Budget }} worker its budget may change
   */
  constructor (pid, file, worker) {
    this.pid = pid
    this.file = file
    this.worker = worker
    this.#statm = new ProcFile(pid, 'statm')
    if (file === 'smaps_rollup') this.#rollup = new ProcFile(pid, file)
  }

  /**
   * @param {number} now ms, by any clock that only goes forward
   * @param {boolean | null} [inFull] read smaps_rollup whether it is due or not; null: in no case
   * @returns {Promise<import('../../../core/sample').Reading | null>} null: the process is gone
   */
  async read (now, inFull = false) {
    const guard = this.#guard()
    if (guard === null) return null
    const isWanted = inFull !== null && (inFull || this.#isDue(guard, now)) && !this.#isReading
    const text = isWanted ? await inTurn(() => this.#readFull()) : null
    if (isWanted) this.isLate = text === null
    if (!text) {
      return isWanted && this.#guard() === null ? null : { ...guard, pssBytes: null, ussBytes: null, meter: 'statm' }
    }
    const full = parseSmaps(text)
    this.#last = { at: now, guardBytes: guard.rssBytes, full }
    return { ...full, meter: this.file }
  }

  close () {
    this.#statm.close()
    this.#rollup?.close()
  }

  /** The figures of statm; null: the process is gone. */
  #guard () {
    return this.#statm.readSync() === 0 ? null : residentOf(this.#statm.bytes)
  }

  /** @returns {Promise<string>} empty: there is none */
  async #readFull () {
    this.#isReading = true
    const text = await (this.#rollup?.read() ??
      fs.promises.readFile(`/proc/${this.pid}/smaps`, 'latin1').catch(() => ''))
    this.#isReading = false
    return text
  }

  /** @param {{ rssBytes: number, anonBytes: number }} guard @param {number} now */
  #isDue (guard, now) {
    if (this.#last === null || now - this.#last.at >= RECORD_EVERY_MS) return true
    const { metric, softBytes } = this.worker.budget
    if (softBytes === null) return false
    if (metric === 'rss' || metric === 'anon') return guard[`${metric}Bytes`] + statmErrorBytes() >= NEAR * softBytes
    // Statm does not know which pages are private or shared; but neither PSS nor USS has grown by more than RSS has.
    const last = this.#last.full[/** @type {'pssBytes'} */ (`${metric}Bytes`)]
    return last + Math.max(0, guard.rssBytes - this.#last.guardBytes) + statmErrorBytes() >= NEAR * softBytes
  }
}

/**
 * Readings of smaps_rollup, one or two at a time. A fleet's readings fall due together; begun in one turn of the loop,
 * each would wake a thread that takes the processor away from the primary, and hold one of libuv's four, which file
 * access and name look-ups need too. On two CPUs one thread leaves the primary the other (its loop is held for 0.4 ms,
 * not 0.9), and gets four fifths of what two would get done.
 *
 * One that does not return in time loses its turn, and keeps its thread; with two such threads no further reading
 * begins, so that half of the pool is left.
 */

const AT_ONCE = os.availableParallelism() > 2 ? 2 : 1

const MOST_HELD = 2

let free = AT_ONCE
let held = 0
/** @type {(() => void)[]} */
const waiting = []

/**
 * @template T @param {() => Promise<T>} read
 * @returns {Promise<T | null>} what it gives, when its turn has come; null: it has not returned, or could not begin
 */
async function inTurn (read) {
  if (free > 0) free--
  else await new Promise(resolve => waiting.push(() => resolve(undefined)))
  try {
    if (held >= MOST_HELD) return null
    const reading = read()
    const given = await inTime(reading)
    if (given === null) hold(reading)
    return given
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
}

/** @param {Promise<unknown>} reading that has not returned */
function hold (reading) {
  held++
  const release = () => { held-- }
  reading.then(release, release)
}

module.exports = { ProcfsProbe, parseSmaps, pageSize }
