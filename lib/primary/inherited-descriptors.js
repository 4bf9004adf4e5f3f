'use strict'

/**
 * The sockets that this process was started with, by descriptor: of its own, an app may listen on these alone. A worker
 * that names another one would have the primary take its own pipes and channels for a server's, and close them with it.
 */

const fs = require('node:fs')
const { attempt } = require('../core/attempt')

const FIRST = 3 // after stdio
/** @param {number} fd */
const isSocket = fd => attempt(() => fs.fstatSync(fd).isSocket(), false) // that of the folder itself
const INHERITED = new Set(socketsNow())

/** @returns {number[]} to be called before this process opens a socket of its own */
function socketsNow () {
  const channel = /** @type {{ fd?: number } | undefined} */ (process.channel)?.fd // to the process that has started it
  const open = attempt(() => fs.readdirSync('/dev/fd'), []) // none where there is no such folder
  return open.map(Number).filter(fd => fd >= FIRST && fd !== channel && isSocket(fd))
}

/** @param {unknown} fd as asked for by a worker @returns {boolean} no descriptor is asked for, or one that may be */
const mayListenOn = fd => typeof fd !== 'number' || !(fd >= 0) || INHERITED.has(fd)

module.exports = { mayListenOn }
