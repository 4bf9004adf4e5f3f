'use strict'

/**
 * Text from an app, a fleet, a file or a command line, made safe for a terminal. It may contain characters that a
 * terminal obeys (C0, DEL and C1 controls), or that reverse the order of text (bidirectional controls).
 */

const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** @param {unknown} text @returns {string} one line, each such character as an escape */
const escapeControls = text => String(text).replace(UNSAFE, char => `\\u{${codeOf(char)}}`)

/** @param {unknown} value @returns {string} JSON of the same value, in one line, without such a character */
const escapedJson = value => escapeJson(JSON.stringify(value))

/** @param {string} json one value a line @returns {string} JSON of the same, without such a character but line ends */
function escapeJson (json) {
  return json.replace(UNSAFE, char => char === '\n' ? char : `\\u${codeOf(char).padStart(4, '0')}`)
}

/** @param {string} char */
const codeOf = char => /** @type {number} */(char.codePointAt(0)).toString(16)

module.exports = { escapeControls, escapedJson, escapeJson }
