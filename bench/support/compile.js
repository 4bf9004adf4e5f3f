'use strict'

const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { temporaryFolder } = require('./folder')

/**
 * @param {string} source a C file of this folder
 * @returns {string | null} the program, gone with this process; null where it cannot be compiled, which is said
 */
function compile (source) {
  const program = path.join(temporaryFolder(), path.basename(source, '.c'))
  try {
    execFileSync('cc', ['-O2', '-o', program, path.join(__dirname, source)])
    return program
  } catch (error) {
    const isMissing = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT'
    console.log(`left out: ${source}; ${isMissing ? 'there is no C compiler (cc)' : 'cc could not compile it'}`)
    return null
  }
}

module.exports = { compile }
