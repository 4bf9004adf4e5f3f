'use strict'

const { OPTIONS } = require('../tables/options')

/**
 * The usual call, `recycle [options] <app> [args…]`, as commander reads it: to load commander, and to tell it all
 * options, takes a tenth of a start.
 *
 * @param {readonly string[]} words of the command line
 * @returns {{ app: string, args: string[], given: Record<string, any> } | null} `given`: as the options were given, by
 *   name; null: that is for commander to read, or to refuse
 */
function readCall (words) {
  /** @type {Record<string, any>} */
  const given = {}
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    // A file, and no command or what other supervisors call one
    if (!word.startsWith('-')) return /[./]/.test(word) ? { app: word, args: words.slice(at + 1), given } : null
    const [, flag, joined] = /** @type {RegExpExecArray} */ (/^([^=]*)(?:=(.*))?$/s.exec(word))
    const option = BY_FLAG.get(flag)
    if (option === undefined || (joined !== undefined && !(option.takesValue && flag.startsWith('--')))) return null
    const value = option.takesValue ? joined ?? words[++at] : !flag.startsWith('--no-')
    if (value === undefined) return null
    given[option.name] = option.name === 'nodeOption' ? [...given.nodeOption ?? [], value] : value
  }
  return null
}

/** Of the command line alone: see run.js. @type {{ name: string, flag: string, short?: string }[]} */
const OWN = [{ name: 'config', flag: '--config <file>' }, { name: 'printConfig', flag: '--print-config' }]

/** @type {ReadonlyMap<string, { name: string, takesValue: boolean }>} */
const BY_FLAG = new Map([...OPTIONS, ...OWN].flatMap(({ name, flag, short }) => {
  const takesValue = flag.includes(' ')
  return [flag.split(' ')[0], short ?? []].flat().map(word => /** @type {const} */ ([word, { name, takesValue }]))
}))

module.exports = { readCall }
