'use strict'

/** `--help` of a bench: the comment that its file begins with, and its flags. */

const fs = require('node:fs')

/**
 * Prints it and ends the process where the command line asks for it.
 *
 * @param {import('./flags').Flags} [flags]
 * @param {string[]} [argv]
 */
function answerHelp (flags = {}, argv = process.argv.slice(2)) {
  if (!argv.some(word => word === '--help' || word === '-h')) return
  console.log(helpOf(fs.readFileSync(process.argv[1], 'utf8'), flags))
  process.exit(0)
}

/** @param {string} source of the bench @param {import('./flags').Flags} flags @returns {string} */
function helpOf (source, flags) {
  const [, comment = ''] = /^\/\*\*\n([^]*?)\n? \*\//m.exec(source) ?? []
  const rows = Object.entries(flags).map(([name, flag]) => [`--${name}`, describe(flag)])
  const width = Math.max(...rows.map(([name]) => name.length))
  return [comment.replace(/^ \*(?: |$)/gm, ''), ...rows.length > 0 ? ['', 'Flags:', ...rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)] : []].join('\n')
}

/** @param {import('./flags').Flags[string]} flag */
function describe (flag) {
  if (typeof flag === 'boolean') return 'a switch'
  const { default: text, of } = typeof flag === 'object' ? flag : { default: flag, of: undefined }
  return [...of ? [`some of ${of.join(',')}`] : [], text === '' ? 'none unless given' : `${text} unless given`].join('; ')
}

module.exports = { answerHelp, helpOf }
