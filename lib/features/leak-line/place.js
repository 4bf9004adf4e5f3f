'use strict'

/** A function in a sentence. */

const path = require('node:path')

/**
 * @param {{ name: string, file: string, line: number }} place @param {string} [folder] that paths in it are relative to
 * @returns {string}
 */
function sayPlace ({ name, file, line }, folder = '') {
  return `${name || '(anonymous)'} ${sayFile({ file, line }, folder)}`
}

/** @param {{ file: string, line: number }} place @param {string} [folder] @returns {string} such as `lib/cart.js:12` */
function sayFile ({ file, line }, folder = '') {
  if (file === '') return '(V8)'
  const relative = folder !== '' && file.startsWith('/') ? path.relative(folder, file) : file
  return `${relative.startsWith('../../..') ? file : relative}:${line}`
}

module.exports = { sayPlace, sayFile }
