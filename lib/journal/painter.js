'use strict'

const util = require('node:util')

/**
 * @param {boolean} hasColors of the stream; the caller checks it, since newer versions of Node would check stdout
 *   instead
 * @returns {(style: Parameters<typeof util.styleText>[0], text: string) => string}
 */
function painter (hasColors) {
  return (style, text) => hasColors ? util.styleText(style, text, { validateStream: false }) : text
}

module.exports = { painter }
