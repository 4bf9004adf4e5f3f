'use strict'

/**
 * A file for what has been seen inside a worker: this user alone can read it, since it holds what the app holds. It is
 * made beforehand: nothing that is there is overwritten or followed, and what cannot be written is known before
 * anything is done to a worker.
 */

const fs = require('node:fs')
const path = require('node:path')
const { RecycleError } = require('../../core/errors')

/**
 * @param {object} of @param {number} of.slot @param {number} [of.pid] @param {string} of.suffix
 * @param {string} [of.folder] by default the primary's working directory
 * @param {string} [of.asked] another name, in place of one by slot, pid and time @returns {string} absolute
 * @throws {RecycleError} RECYCLE_UNWRITABLE
 */
function createPrivateFile ({ slot, pid = 0, suffix, folder = '', asked }) {
  const time = new Date().toISOString() // eslint-disable-line no-restricted-syntax -- a time of day, for people
  return createNew(asked ?? path.join(folder, `slot-${slot}-${pid}-${time.replace(/[:.]/g, '-')}.${suffix}`))
}

/** @param {string} name @returns {string} absolute @throws {RecycleError} RECYCLE_UNWRITABLE */
function createNew (name) {
  const file = path.resolve(name)
  try {
    fs.closeSync(fs.openSync(file, 'wx', 0o600))
    return file
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new RecycleError('RECYCLE_UNWRITABLE',
      { file, why: code === 'EEXIST' ? 'there is such a file already' : message })
  }
}

module.exports = { createPrivateFile, createNew }
