'use strict'

/**
 * A small file of /proc/<pid> that is read again and again. It is kept open: a reading is one call then instead of five,
 * and it stays with the process that it was opened for, whoever has its pid later.
 */

const fs = require('node:fs')

const LARGEST = 1024 // bytes; those that are read here have 25 to 700

class ProcFile {
  /** What `readSync()` has read. */
  bytes = Buffer.allocUnsafeSlow(LARGEST)
  /** @type {number | null} null: closed */
  #fd
  #readers = 0

  /** @param {number} pid @param {'stat' | 'statm' | 'smaps_rollup'} name @throws {Error} ENOENT, EACCES */
  constructor (pid, name) {
    this.#fd = fs.openSync(`/proc/${pid}/${name}`, 'r')
  }

  /** @returns {number} how many bytes; 0: the process is gone, or the file is closed */
  readSync () {
    try {
      return this.#fd === null ? 0 : fs.readSync(this.#fd, this.bytes, 0, LARGEST, 0)
    } catch {
      return 0 // ESRCH
    }
  }

  /** Reads it on the thread pool. @returns {Promise<string>} empty: the process is gone, or the file is closed */
  async read () {
    const fd = this.#fd
    if (fd === null) return ''
    const bytes = Buffer.allocUnsafe(LARGEST)
    this.#readers++
    const length = await new Promise(resolve => fs.read(fd, bytes, 0, LARGEST, 0, (error, length) => resolve(error ? 0 : length)))
    this.#readers--
    this.#closeUnread(fd)
    return bytes.toString('latin1', 0, length)
  }

  close () {
    const fd = this.#fd
    this.#fd = null
    if (fd !== null) this.#closeUnread(fd)
  }

  /** A descriptor that is closed while it is being read may be another file's by the time it is. @param {number} fd */
  #closeUnread (fd) {
    if (this.#fd === null && this.#readers === 0) fs.closeSync(fd)
  }
}

module.exports = { ProcFile }
