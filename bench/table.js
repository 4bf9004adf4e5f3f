'use strict'

/**
 * Prints the tables of published results, all of which is in the JSON files of bench/results:
 *
 *     node bench/table.js --list                                     which benches, Nodes and groups there are
 *     node bench/table.js gc-raw --node 22 --group 'cache, 1 worker'
 *     node bench/table.js my-run.json                                or of a file that a bench wrote by --out
 *
 * --group is a regular expression. Each table names its machine, its flags (the load generator among them) and its
 * rounds.
 */

const fs = require('node:fs')
const { parseArgs } = require('node:util')
const { BadFlag, exitOnBadFlag } = require('./support/flags')
const { reasonsOf } = require('./support/gc-log')
const { answerHelp } = require('./support/help')
const { machineLine } = require('./support/machine')
const { headingOf, judge, resultTables } = require('./support/results')
const { readResults, savedIn } = require('./support/results-file')
const { alignTable } = require('./support/table')

const USAGE = 'node bench/table.js <bench or file> [--node <major>] [--group <regex>] | --list'

exitOnBadFlag('bench:table')
answerHelp()
const { values, positionals } = readArguments()
if (values.list) list()
else print(chosenFiles(), chosenGroups())

function readArguments () {
  try {
    return parseArgs({ allowPositionals: true, options: { node: { type: 'string' }, group: { type: 'string', default: '' }, list: { type: 'boolean' } } })
  } catch (error) {
    throw new BadFlag(`${/** @type {Error} */ (error).message.split(/\.\s/)[0]}; usage: ${USAGE}`)
  }
}

function list () {
  for (const bench of benches()) {
    for (const { machine, groups } of readResults(bench)) {
      console.log(`${bench} --node ${majorOf(machine.node)}`)
      for (const name of new Set(groups.map((/** @type {any} */ { name }) => name))) console.log(`  ${name}`)
    }
  }
}

/** @returns {any[]} results */
function chosenFiles () {
  const [name, ...others] = positionals
  if (!name || others.length) throw new BadFlag(`takes one bench, of ${benches().join(', ')}, or a file; usage: ${USAGE}`)
  const all = name.endsWith('.json') ? [readFile(name)] : readResults(name)
  if (all.length === 0) throw new BadFlag(`takes one bench, of ${benches().join(', ')}, or a file; it is "${name}"`)
  const files = all.filter(({ machine }) => !values.node || majorOf(machine.node) === values.node)
  if (files.length === 0) throw new BadFlag(`--node takes one of ${all.map(({ machine }) => majorOf(machine.node)).join(', ')} for ${name}; it is "${values.node}"`)
  return files
}

/** @param {string} file */
function readFile (file) {
  const refuse = (/** @type {string} */ why) => new BadFlag(`takes a results file of a bench; ${file} is none (${why})`)
  let results
  try {
    results = JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch (error) {
    throw refuse(/** @type {NodeJS.ErrnoException} */ (error).code ?? 'no JSON')
  }
  if (results?.v !== 1 || !results.groups || !results.columns) throw refuse('another format')
  return results
}

/** @returns {RegExp} */
function chosenGroups () {
  try {
    return new RegExp(values.group)
  } catch {
    throw new BadFlag(`--group takes a regular expression; it is "${values.group}"`)
  }
}

/** @param {any[]} files @param {RegExp} pattern */
function print (files, pattern) {
  const found = files.map(
    file => ({ ...file, groups: file.groups.filter((/** @type {any} */ { name }) => pattern.test(name)) })
  ).filter(({ groups }) => groups.length)
  if (found.length === 0) throw new BadFlag(`--group takes a pattern that matches a group (see --list); it is "${values.group}"`)
  for (const results of found) {
    const { bench, date, machine, settings, note, columns, groups } = results
    console.log(`${bench}, ${date.slice(0, 10)}, ${Object.entries(settings).map(([name, value]) => `--${name} ${value === '' ? '""' : value}`).join(' ')}`)
    if (note) console.log(note)
    for (const group of groups) {
      console.log(`\n${headingOf(group, columns)}\n${machineLine(group.machine ?? machine)}`)
      for (const table of resultTables(group, columns)) console.log(alignTable(table))
      for (const line of reasonsOf(group)) console.log(line)
    }
    console.log()
    for (const { text, isMet } of judge(results)) console.log(`${isMet ? 'goal met:   ' : 'goal missed:'} ${text}`)
  }
}

function benches () {
  return [...new Set(savedIn().map(({ bench }) => bench))].sort()
}

/** @param {string} version */
function majorOf (version) {
  return version.slice(1).split('.')[0]
}
