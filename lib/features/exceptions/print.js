'use strict'

/**
 * An exception in words, whatever the app has thrown: a Proxy, or an object whose getters throw, too. Neither function
 * throws.
 */

const fs = require('node:fs')
const { fileURLToPath } = require('node:url')
const { inspect, types } = require('node:util')
const { attempt } = require('../../core/attempt')
const { LONGEST } = require('./bounds')

const FRAME = /^\s+at (?:.*\()?((?:file:\/\/)?\/.*?):(\d+):(\d+)\)?$/m
const LONGEST_LINE = 200

/** As Node.js prints one that ends a process: source line, stack, version. @param {unknown} thrown @returns {string} */
function print (thrown) {
  const place = isError(thrown) ? placeOf(textOf(thrown, 'stack')) : 'Uncaught:\n'
  return `${place}${inspected(thrown)}\n\nNode.js ${process.version}\n`
}

/** @param {unknown} thrown @returns {{ name: string, message: string, stack: string }} bounded */
function describe (thrown) {
  const line = (/** @type {string} */ message) => message.split('\n', 1)[0].slice(0, LONGEST.message)
  if (isError(thrown)) {
    return {
      name: textOf(thrown, 'name').slice(0, LONGEST.name),
      message: line(textOf(thrown, 'message')),
      stack: textOf(thrown, 'stack').slice(0, LONGEST.stack)
    }
  }
  return {
    name: 'a value',
    message: line(typeof thrown === 'string' ? thrown : inspected(thrown, { breakLength: Infinity, compact: true })),
    stack: ''
  }
}

/** @param {unknown} thrown @returns {thrown is Error} */
const isError = thrown =>
  attempt(() => types.isNativeError(thrown) || thrown instanceof Error, false) // the former may be of another context

/**
 * @param {Error} error @param {'name' | 'message' | 'stack'} field
 * @returns {string} '' where it throws: Node.js makes the stack when it is first read
 */
const textOf = (error, field) => attempt(() => String(error[field]), '')

/** @param {unknown} thrown @param {import('node:util').InspectOptions} [how] @returns {string} */
const inspected = (thrown, how) => attempt(() => inspect(thrown, how), 'what cannot be shown')

/** @param {string} stack @returns {string} '' where the source is not to be had */
function placeOf (stack) {
  if (/^(?:file:\/\/)?\/.*:\d+\n/.test(stack)) return '' // a syntax error's has it already
  const [, where, line, column] = FRAME.exec(stack) ?? []
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

module.exports = { print, describe }
