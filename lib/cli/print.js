'use strict'

/** Output of the command line, a line at a time, with control characters escaped. */

const { escapeControls, escapedJson } = require('../core/escape-controls')

/** @param {string} text on stdout */
function print (text) {
  console.log(escapeControls(text))
}

/** @param {unknown} value on stdout, as JSON */
function printJson (value) {
  console.log(escapedJson(value))
}

/** @param {string} text on stderr */
function complain (text) {
  console.error(escapeControls(text))
}

/** On stderr, where it is read: this process can exit then, and must. @param {string} text */
async function lastWords (text) {
  const outputs = new (require('../primary/outputs').Outputs)()
  outputs.of(2).log(`${escapeControls(text)}\n`)
  await outputs.end()
}

module.exports = { print, printJson, complain, lastWords }
