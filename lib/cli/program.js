'use strict'

const fs = require('node:fs')
const { Command, CommanderError } = require('commander')
const { version } = require('../../package.json')
const { answerToFlag, hintOn, SYNONYMS } = require('../core/habits')
const { RecycleError } = require('../core/errors')
const { shorten } = require('../core/format-value')
const { FEATURES } = require('../features')
const { addCompletion } = require('./completion')
const { addCpuprofile } = require('./cpuprofile')
const { addDrill } = require('./drill')
const { count } = require('../core/units')
const { addFleetName, addFleetOptions, withFleet } = require('./fleet')
const { addHelp } = require('./help')
const leanV8 = require('./lean-v8')
const { addLs } = require('./ls')
const { addLogs } = require('./logs')
const { addReport } = require('./report')
const { addRun } = require('./run')
const { addStatus } = require('./status')
const { addTail } = require('./tail')
const { addTop } = require('./top')
const { addUnit } = require('./unit')
const { addVerbs, verb, act, hasLost, losses } = require('./verbs')
const { complain, print } = require('./print')

const MAX_CHARS = 400 // of commander's message, which repeats the user's input

/** @param {string[]} argv */
async function main (argv) {
  const program = new Command('recycle')
    .description('Runs any Node.js HTTP app on a fleet of workers and replaces a worker that exceeds its memory budget, without dropping a request.')
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: text => complain(oneSentence(text)) })
  program.hook('preAction', (_, command) => { if (command !== program) leanV8.end() })
  addRun(program, { isStart: argv[2] === 'start' && synonymOf('start') !== null })
  addDrill(program)
  addReport(program)
  addLs(program)
  addStatus(program)
  addTail(program)
  addLogs(program)
  addTop(program)
  addVerbs(program)
  for (const { command } of FEATURES) command?.()(program, { addFleetName, addFleetOptions, withFleet, verb, act, complain, print, count, hasLost, losses, createNew: name => require('../primary/recycling/private-file').createNew(name) })
  addCpuprofile(program)
  addUnit(program)
  addCompletion(program)
  addHelp(program)

  // EPIPE: the reader, such as `head`, has closed the pipe
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await program.parseAsync(withoutSynonym(argv))
  } catch (error) {
    process.exitCode = report(error)
  }
}

/**
 * A first word of another supervisor's that means the same here, unless a file has this name.
 *
 * @param {string[]} argv @returns {string[]}
 */
function withoutSynonym ([node, program, word = '', ...rest]) {
  return [node, program, ...synonymOf(word) ?? (word === '' ? [] : [word]), ...rest]
}

/** @param {string} word @returns {string[] | null} what it stands for; null: itself */
function synonymOf (word) {
  const isFile = ['', '.js', '.cjs', '.mjs', '.json'].some(ending => fs.existsSync(`${word}${ending}`))
  return Object.hasOwn(SYNONYMS, word) && !isFile ? SYNONYMS[word] : null
}

/** @param {string} text commander's @returns {string} */
function oneSentence (text) {
  const answer = answerToFlag(/unknown option '(--[\w-]+|-\w)/.exec(text)?.[1] ?? '')
  if (answer !== null) return `recycle: ${answer}`
  const said = text.trim().replace(/^error: /, '').replace(/\n\(?/g, '; ').replace(/[).]$/, '')
  return `recycle: ${shorten(said, MAX_CHARS)}; see recycle --help`
}

/**
 * Prints the error as one sentence.
 *
 * @param {unknown} error @returns {number} the exit code
 */
function report (error) {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2 // commander has printed it
  if (!(error instanceof RecycleError)) throw error
  complain(`recycle: ${error.message}${error.code === 'RECYCLE_BAD_OPTION' ? hintOn(error.details.option, error.details.given) : ''}`)
  return error.exitCode
}

module.exports = { main }
