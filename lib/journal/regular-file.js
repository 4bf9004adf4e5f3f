'use strict'

/**
 * Files that the user has named, to read or to write. Only regular ones: open() of a FIFO waits for its other end, some
 * devices wait too, and a process that waits in open() can do nothing else. So each file is opened with O_NONBLOCK, and
 * checked again once it is open: another file may have taken its place.
 */

const fs = require('node:fs')
const { fileId } = require('../core/file-id')

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK, O_NOCTTY } = fs.constants
const MODE = 0o666

/**
 * @param {string} file @returns {number} descriptor, open for reading
 * @throws {Error} whose message completes "it cannot be read: …"
 */
const openForReading = file => open(file, O_RDONLY).fd

/**
 * @param {string} file
 * @returns {{ fd: number, id: string }} open for appending; `id`: the same for every path of the same file
 * @throws {Error} whose message completes "it cannot be written: …"
 */
const openForAppending = file => open(file, O_WRONLY | O_CREAT | O_APPEND)

/** @param {string} file @param {number} flags */
function open (file, flags) {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  if (found) assertRegular(found) // before it is opened: the other end of a FIFO would notice
  const fd = fs.openSync(file, flags | O_NONBLOCK | O_NOCTTY, MODE)
  try {
    const opened = fs.fstatSync(fd)
    assertRegular(opened)
    return { fd, id: fileId(opened) }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

/** Replaces a file's content. @param {string} file @param {string} text @throws {Error} as openForAppending() does */
function writeRegular (file, text) {
  const { fd } = openForAppending(file)
  try {
    fs.ftruncateSync(fd)
    fs.writeFileSync(fd, text)
  } finally {
    fs.closeSync(fd)
  }
}

/** @param {fs.Stats} stat */
function assertRegular (stat) {
  if (!stat.isFile()) throw new Error(`it is ${kindOf(stat)}, not a regular file`)
}

/** @param {fs.Stats} stat */
function kindOf (stat) {
  if (stat.isDirectory()) return 'a folder'
  if (stat.isFIFO()) return 'a FIFO'
  return stat.isSocket() ? 'a socket' : 'a device'
}

module.exports = { openForReading, openForAppending, writeRegular }
