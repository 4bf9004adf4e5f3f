'use strict'

const { badOption } = require('../core/errors')
const { writeRegular } = require('../journal/regular-file')

/** Writes the file of `--html`. @param {string} file @param {string} text @throws {RecycleError} RECYCLE_BAD_OPTION */
function writePage (file, text) {
  try {
    writeRegular(file, text)
  } catch (error) {
    throw badOption('--html', file, `a file that can be written (${/** @type {Error} */ (error).message})`)
  }
}

module.exports = { writePage }
