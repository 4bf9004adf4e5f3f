'use strict'

/** The connections that wait in the kernel at a listening TCP socket, by Linux's /proc/net/tcp. */

const fs = require('node:fs')
const { STATE, inetSocket } = require('../../native/proc')

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']
const CHUNK = 64 * 1024 // bytes; the kernel gives a page at a time

/**
 * @param {number} fd of the socket
 * @returns {number | null} connections that wait to be accepted; null where the tables cannot be read
 */
function queueLength (fd) {
  const inode = inodeOf(fd)
  for (const table of TABLES) {
    for (const row of rows(table)) {
      if (row.state !== STATE.listen) break // those that listen come first; what follows may be megabytes
      if (row.inode === inode) return row.queued
    }
  }
  return null
}

/** @param {number} fd of the socket @returns {boolean} a handshake has begun there and not ended */
function isAnyHalfOpen (fd) {
  const inode = inodeOf(fd)
  for (const table of TABLES) {
    let port
    for (const row of rows(table)) {
      if (row.inode === inode) port = row.port
      else if (row.state === STATE.synReceived && row.port === port) return true
      else if (row.state !== STATE.listen && !port) break
    }
  }
  return false
}

/** @param {number} fd */
function inodeOf (fd) {
  return String(fs.fstatSync(fd).ino)
}

/** @param {string} table */
function * rows (table) {
  let fd
  try {
    fd = fs.openSync(table, 'r')
    const bytes = Buffer.allocUnsafe(CHUNK)
    let rest = ''
    for (let length; (length = fs.readSync(fd, bytes)) > 0;) {
      const lines = (rest + bytes.toString('latin1', 0, length)).split('\n')
      rest = /** @type {string} */ (lines.pop())
      for (const line of lines) {
        const row = inetSocket(line)
        if (row) yield row
      }
    }
  } catch {
    // no /proc here
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

module.exports = { queueLength, isAnyHalfOpen }
