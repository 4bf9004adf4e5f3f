'use strict'

/** Output of the command line, a line at a time, with control characters escaped. */

const { plain, plainJson } = require('../core/plain')

/** @param {string} text on stdout */
function print (text) {
  console.log(plain(text))
}

/** @param {unknown} value on stdout, as JSON */
function printJson (value) {
  console.log(plainJson(value))
}

/** @param {string} text on stderr */
function complain (text) {
  console.error(plain(text))
}

/** On stderr, where it is read: this process can exit then, and must. @param {string} text */
async function lastWords (text) {
  const outputs = new (require('../primary/outputs').Outputs)()
  outputs.of(2).log(`${plain(text)}\n`)
  await outputs.end()
}

module.exports = { print, printJson, complain, lastWords }
