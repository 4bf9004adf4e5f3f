'use strict'

/**
 * Writes to a descriptor that this process has inherited, stdout or stderr, without ever waiting for its reader.
 * Whether write() waits is a flag (O_NONBLOCK) that all processes share which have inherited the same descriptor; child
 * processes of Node.js clear it when they begin and end. So a pipe or a terminal is opened anew, for a flag of our own.
 * What cannot be opened anew (a socket; a pipe of another user's; on macOS) has the flag set before each write, as
 * Node.js sets it once.
 *
 * The thread pool writes files: a slow disk stops one of its threads.
 */

const fs = require('node:fs')
const net = require('node:net')
const tty = require('node:tty')
const { attempt } = require('../core/attempt')

const ATOMIC_BYTES = 4096 // PIPE_BUF: nothing that another process writes to the pipe comes in between
const FILE_BYTES = 64 * 1024

/**
 * @typedef {object} Descriptor
 * @property {number} mostBytes that are to be written at once, unless a line is longer
 * @property {(bytes: Buffer, done: (error: NodeJS.ErrnoException | null) => void) => void} write one at a time
 * @property {() => void} close what has not been written by then is lost
 */

/** @param {1 | 2} fd @returns {Descriptor} */
function openDescriptor (fd) {
  const stat = fs.fstatSync(fd)
  if (tty.isatty(fd)) {
    const own = reopen(fd)
    return own === null ? ofFile(fd) : ofStream(new tty.WriteStream(own))
  }
  if (stat.isFIFO()) {
    const own = reopen(fd)
    return ofStream(own === null ? standard(fd) : new net.Socket({ fd: own, readable: false, writable: true }))
  }
  return stat.isSocket() ? ofStream(standard(fd)) : ofFile(fd)
}

/** @param {number} fd */
const standard = fd => fd === 1 ? process.stdout : process.stderr

/** @param {number} fd @returns {number | null} null: it cannot be opened anew */
function reopen (fd) {
  if (process.platform !== 'linux') return null // elsewhere it would be a duplicate
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants
  // Null: it belongs to another user
  return attempt(() => fs.openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY), null)
}

/** @param {net.Socket} stream @returns {Descriptor} */
function ofStream (stream) {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {}) // the write that has failed says so
  return {
    mostBytes: ATOMIC_BYTES,
    write (bytes, done) {
      stream._handle?.setBlocking?.(false)
      stream.write(bytes, /** @type {(error?: Error | null) => void} */ (done))
    },
    close: () => { if (stream !== process.stdout && stream !== process.stderr) stream.destroy() }
  }
}

/** @param {number} fd @returns {Descriptor} */
function ofFile (fd) {
  let isTorn = false // the last line in it is half of one
  return {
    mostBytes: FILE_BYTES,
    write (bytes, done) {
      const whole = isTorn ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes
      isTorn = false
      const next = (/** @type {number} */ at) => fs.write(fd, whole, at, whole.length - at, null, (error, written) => {
        if (error) isTorn = at > 0
        if (error || at + written === whole.length) done(error)
        else next(at + written)
      })
      next(0)
    },
    close () {}
  }
}

module.exports = { openDescriptor }
