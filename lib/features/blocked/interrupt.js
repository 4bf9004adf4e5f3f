'use strict'

/**
 * The addon by which a worker says where its event loop is blocked: one that was built here, or the one that came with the package. It is apart from
 * lib/mold/addon, as it must not be missing where that fails, nor the other way round.
 */

const path = require('node:path')

const FOLDER = path.join(__dirname, 'addon')
const BUILT = path.join(FOLDER, 'build', 'Release', 'recycle_interrupt.node')
const PREBUILT = path.join(FOLDER, 'prebuilds', `${process.platform}-${process.arch}`, 'node.napi.glibc.node')

/**
 * @typedef {object} Addon
 * @property {(signal: number, fn: () => void) => boolean} onSignal `fn` is called in the middle of what runs then; false: this Node.js cannot do it
 * @property {string} source the hash of what it was made from; empty where it was built here
 */

/** @param {string[]} [files] @returns {Addon | null} null: there is none for this machine */
function loadInterrupt (files = [BUILT, PREBUILT]) {
  for (const file of files) {
    try {
      return require(file)
    } catch {} // where it was not built, or for another C library
  }
  return null
}

module.exports = { loadInterrupt, PREBUILT }
