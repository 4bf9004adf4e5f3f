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

module.exports = { print, printJson, complain }
