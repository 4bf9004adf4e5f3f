'use strict'

/**
 * The terminal by which this process was started. When it closes, the kernel sends SIGHUP, which means "reload"
 * elsewhere. With nohup, or all three streams redirected, the fleet is to outlive it. nohup's own mark, that SIGHUP is
 * ignored, cannot be seen: Node.js resets it as it starts.
 */

const fs = require('node:fs')
const tty = require('node:tty')
const { attempt } = require('../core/attempt')

/** @returns {() => boolean} whether there is one now, and it has closed since */
function watchTerminal () {
  const had = [0, 1, 2].some(fd => tty.isatty(fd)) && hasTerminal()
  return () => had && !hasTerminal()
}

/** This process has a controlling terminal. */
function hasTerminal () {
  const fd = attempt(() => fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NOCTTY), null) // ENXIO: none
  if (fd !== null) fs.closeSync(fd)
  return fd !== null
}

module.exports = { watchTerminal }
