'use strict'

/**
 * A small file of /proc/<pid> that is read again and again. It is kept open: a reading is one call then instead of
 * five, and it stays with the process that it was opened for, whichever process has its pid later. It is opened by the
 * first reading that can: a primary that is out of descriptors for a moment goes on.
 */

const fs = require('node:fs')

const LARGEST = 1024 // bytes; those that are read here have 25 to 700

class ProcFile {
  /** The bytes that `readSync()` has read. */
  bytes = Buffer.allocUnsafeSlow(LARGEST)
  /** @type {number | null} null: not open */
  #fd = null
  #isClosed = false
  #readers = 0

  /** @param {number} pid @param {'stat' | 'statm' | 'smaps_rollup'} name */
  constructor (pid, name) {
    this.path = `/proc/${pid}/${name}`
    this.#open()
  }

  /** @returns {number} how many bytes; 0: the process is gone, or the file closed or not to be had */
  readSync () {
    try {
      if (this.#fd === null) this.#open()
      return this.#fd === null ? 0 : fs.readSync(this.#fd, this.bytes, 0, LARGEST, 0)
    } catch {
      return 0 // ESRCH
    }
  }

  /**
   * Reads it on the thread pool.
   * @returns {Promise<string>} empty: the process is gone, or the file closed or not to be had
   */
  async read () {
    if (this.#fd === null) this.#open()
    const fd = this.#fd
    if (fd === null) return ''
    const bytes = Buffer.allocUnsafe(LARGEST)
    this.#readers++
    const length = await new Promise(resolve =>
      fs.read(fd, bytes, 0, LARGEST, 0, (error, length) => resolve(error ? 0 : length)))
    this.#readers--
    this.#closeUnread(fd)
    return bytes.toString('latin1', 0, length)
  }

  close () {
    this.#isClosed = true
    const fd = this.#fd
    this.#fd = null
    if (fd !== null) this.#closeUnread(fd)
  }

  #open () {
    if (this.#isClosed) return
    try {
      this.#fd = fs.openSync(this.path, 'r')
    } catch {} // ENOENT, EACCES, EMFILE
  }

  /** A descriptor that is closed while it is being read may be another file's by the time it is. @param {number} fd */
  #closeUnread (fd) {
    if (this.#fd === null && this.#readers === 0) fs.closeSync(fd)
  }
}

module.exports = { ProcFile }
