'use strict'

/**
 * The folder of the heap snapshots that are written without being asked for. It is this user's alone, since a snapshot
 * holds what the app holds, and its files' names must not be another user's to choose.
 */

const fs = require('node:fs')
const path = require('node:path')
const { RecycleError } = require('../../core/errors')
const { distrust } = require('../../core/folder-trust')
const { makeFolder } = require('../../native/make-folder')

const EXTENSION = '.heapsnapshot'

class HeapdumpFolder {
  /** @param {string} folder */
  constructor (folder) {
    this.path = path.resolve(folder)
  }

  /**
   * Creates it, or checks that no other user can write to it.
   *
   * @returns {this}
   * @throws {RecycleError} RECYCLE_UNWRITABLE
   */
  open () {
    const refuse = (/** @type {string} */ why) => { throw new RecycleError('RECYCLE_UNWRITABLE', { file: this.path, why }) }
    try {
      makeFolder(this.path, 0o700)
    } catch (error) {
      refuse(/** @type {Error} */ (error).message)
    }
    const why = distrust(this.path, fs.lstatSync(this.path), process.getuid?.() ?? 0)
    if (why !== null) refuse(why)
    return this
  }

  /**
   * @returns {{ usedBytes: number, freeBytes: number }} size of the snapshots in it; what is free in its file system
   */
  usage () {
    const names = fs.readdirSync(this.path).filter(name => name.endsWith(EXTENSION))
    const sizes = names.map(name => fs.lstatSync(path.join(this.path, name), { throwIfNoEntry: false })?.size ?? 0)
    const { bavail, bsize } = fs.statfsSync(this.path)
    return { usedBytes: sizes.reduce((sum, size) => sum + size, 0), freeBytes: bavail * bsize }
  }
}

module.exports = { HeapdumpFolder }
