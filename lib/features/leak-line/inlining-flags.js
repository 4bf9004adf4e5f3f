'use strict'

/**
 * Flags by which V8 inlines no function, as far as this Node.js knows them: it does not start with one that it does not
 * know.
 */

const { execFile } = require('node:child_process')

const FLAGS = ['turbo-inlining', 'maglev-inlining', 'maglev-non-eager-inlining', 'turbolev-non-eager-inlining']
const TIMEOUT_MS = 10_000

/** @param {string} help of `node --v8-options` @returns {string[]} */
function flagsIn (help) {
  return FLAGS.filter(name => new RegExp(`^ +--${name} `, 'm').test(help)).map(name => `--no-${name}`)
}

/** @returns {Promise<string[]>} none, where they cannot be known: what is inlined then counts for its caller */
function inliningFlags () {
  return new Promise(resolve => {
    execFile(process.execPath, ['--v8-options'], { timeout: TIMEOUT_MS, maxBuffer: 16 * 1024 ** 2 },
      (error, stdout) => resolve(error ? [] : flagsIn(stdout)))
  })
}

module.exports = { flagsIn, inliningFlags }
