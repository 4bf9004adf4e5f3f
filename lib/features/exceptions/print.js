'use strict'

/** Prints an exception as Node.js prints one that ends a process: the line of the source, the stack, and the version. */

const fs = require('node:fs')
const { fileURLToPath } = require('node:url')
const { inspect } = require('node:util')

const FRAME = /^\s+at (?:.*\()?((?:file:\/\/)?\/.*?):(\d+):(\d+)\)?$/m
const LONGEST_LINE = 200

/** @param {unknown} error @returns {string} */
function describe (error) {
  if (!(error instanceof Error)) return `Uncaught:\n${inspect(error)}\n\nNode.js ${process.version}\n`
  return `${placeOf(error)}${inspect(error)}\n\nNode.js ${process.version}\n`
}

/** @param {Error} error @returns {string} '' where the source is not to be had */
function placeOf ({ stack }) {
  if (/^(?:file:\/\/)?\/.*:\d+\n/.test(String(stack))) return '' // a syntax error's has it already
  const [, where, line, column] = FRAME.exec(String(stack)) ?? []
  if (where === undefined) return ''
  try {
    const file = where.startsWith('file:') ? fileURLToPath(where) : where
    const source = fs.readFileSync(file, 'utf8').split('\n')[Number(line) - 1]
    if (source === undefined || source.length > LONGEST_LINE) return ''
    return `${where}:${line}\n${source}\n${' '.repeat(Number(column) - 1)}^\n\n`
  } catch {
    return '' // it is in no file, or in one that is gone
  }
}

module.exports = { describe }
