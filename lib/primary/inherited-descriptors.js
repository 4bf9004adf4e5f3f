'use strict'

/**
 * The sockets that this process was started with, by descriptor: of its own, an app may listen on these alone. A worker
 * that names another one would have the primary take its own pipes and channels for a server's, and close them with it.
 */

const fs = require('node:fs')

const FIRST = 3 // after stdio
const INHERITED = new Set(socketsNow())

/** @returns {number[]} to be called before this process opens a socket of its own */
function socketsNow () {
  const channel = /** @type {any} */ (process.channel)?.fd // to the process that has started this one
  try {
    return fs.readdirSync('/dev/fd').map(Number).filter(fd => fd >= FIRST && fd !== channel && isSocket(fd))
  } catch {
    return [] // no such folder
  }
}

/** @param {number} fd */
function isSocket (fd) {
  try {
    return fs.fstatSync(fd).isSocket()
  } catch {
    return false // that of the folder itself
  }
}

/** @param {unknown} fd as asked for by a worker @returns {boolean} no descriptor is asked for, or one that may be */
function mayListenOn (fd) {
  return typeof fd !== 'number' || !(fd >= 0) || INHERITED.has(fd)
}

module.exports = { mayListenOn }
