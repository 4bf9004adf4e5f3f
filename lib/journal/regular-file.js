'use strict'

/**
 * Files that a user has named to be written. Only regular ones: opening a FIFO waits for its reader, some devices wait
 * too, and nothing else can be done in a process that waits in open(). Each is opened with O_NONBLOCK, and looked at
 * again once it is open, so that one which takes its place meanwhile is refused as well.
 */

const fs = require('node:fs')
const { fileId } = require('../core/file-id')

const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK, O_NOCTTY } = fs.constants
const MODE = 0o666

/**
 * @param {string} file
 * @returns {{ fd: number, id: string }} open for appending; `id`: the same for every path of the same file
 * @throws {Error} whose message completes "it cannot be written: …"
 */
function openRegular (file) {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  if (found) assertRegular(found) // before it is opened: a reader of a FIFO would notice
  const fd = fs.openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, MODE)
  try {
    const opened = fs.fstatSync(fd)
    assertRegular(opened)
    return { fd, id: fileId(opened) }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

/**
 * Replaces what the file holds.
 *
 * @param {string} file
 * @param {string} text
 * @throws {Error} as openRegular() does
 */
function writeRegular (file, text) {
  const { fd } = openRegular(file)
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

module.exports = { openRegular, writeRegular }
