'use strict'

/**
 * The flags of a bench, checked. A flag's default says what it accepts:
 *
 *     connections: '50'                                a number above 0; from 0 on, where the default is '0'
 *     workers: '1,5'                                   such numbers
 *     rate: ''                                         a number from 0 on, or empty
 *     apps: { default: 'garbage', of: ['garbage'] }    some of these
 *     heap: false                                      a switch
 *     fleets: { default: '5x50', like: /^\d+x\d+$/ }   some of this form
 *     out: { default: '' }                             any text
 *
 * @typedef {{ default: string, of?: string[], like?: RegExp }} Words
 * @typedef {Record<string, string | boolean | Words>} Flags
 */

const { parseArgs } = require('node:util')

/** Bad input: one sentence, exit code 2. */
class BadFlag extends Error {}

/**
 * @param {Flags} flags
 * @param {Record<string, string>} quick their values with --quick
 * @param {string[]} argv
 * @returns {Record<string, any>} texts and booleans, by name
 * @throws {BadFlag}
 */
function readFlags (flags, quick, argv) {
  const defaults = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, typeof flag === 'object' ? flag.default : flag]))
  const given = parsed(argv, defaults)
  const values = { ...defaults, ...(given.quick ? quick : {}), ...given }
  for (const [name, flag] of Object.entries(flags)) values[name] = checked(name, flag, values[name])
  return values
}

/** @param {string[]} argv @param {Record<string, any>} defaults @returns {Record<string, any>} */
function parsed (argv, defaults) {
  const options = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, { type: /** @type {'boolean' | 'string'} */ (typeof value === 'boolean' ? 'boolean' : 'string') }]))
  try {
    const { values } = parseArgs({ args: argv, options })
    return { ...values }
  } catch (error) {
    throw new BadFlag(`${/** @type {Error} */ (error).message.split(/\.\s/)[0]}; there are ${Object.keys(defaults).map(name => `--${name}`).join(' ')}`)
  }
}

/**
 * @param {string} name @param {Flags[string]} flag @param {string | boolean} value
 * @returns {string | boolean} a list without blanks
 */
function checked (name, flag, value) {
  if (typeof value === 'boolean' || typeof flag === 'boolean') return value
  const refuse = (/** @type {string} */ accepts) => { throw new BadFlag(`--${name} takes ${accepts}; it is "${value}"`) }
  const items = value.split(',').map(item => item.trim())
  if (typeof flag === 'object') {
    const { of, like } = flag
    if (of && !items.every(item => of.includes(item))) refuse(`some of ${of.join(',')}`)
    if (like && !items.every(item => like.test(item))) refuse(`what looks like ${flag.default}`)
    if (!of && !like) return value
  } else if (flag.includes(',')) {
    if (!items.every(isPositive)) refuse(`numbers above 0, such as ${flag}`)
  } else if (isPositive(flag)) {
    if (!isPositive(value)) refuse('a number above 0')
  } else if (value !== flag && value !== '0' && !isPositive(value)) {
    refuse('a number from 0 on')
  }
  return items.join(',')
}

/** From now on an uncaught BadFlag ends the process: one sentence, exit code 2. @param {string} command */
function exitOnBadFlag (command) {
  process.once('uncaughtException', error => {
    const isBad = error instanceof BadFlag
    console.error(isBad ? `${command}: ${error.message}` : error)
    process.exit(isBad ? 2 : 1)
  })
}

/** @param {string} text */
function isPositive (text) {
  return /^\d*\.?\d+$/.test(text) && Number(text) > 0
}

module.exports = { readFlags, exitOnBadFlag, BadFlag }
