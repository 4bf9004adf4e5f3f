'use strict'

const fs = require('node:fs')
const { version } = require('../../package.json')
const { RecycleError } = require('../core/errors')
const { shorten } = require('../core/format-value')
const { openCompileCache } = require('../native/compile-cache')
const { openPack } = require('../native/own-code')
const leanV8 = require('./lean-v8')
const { complain, watchOutput, write } = require('./print')
/** @import { Command } from 'commander' */

const MAX_CHARS = 400 // of commander's message, which repeats the user's input

/**
 * First words that decide alone what is called: nothing else is loaded for them. With any other one the program has all
 * that it has: an app is run, or a name that it does not know gets an answer.
 * @type {Readonly<Record<string, () => (program: Command) => void>>}
 */
const ALONE = Object.freeze({
  '--version': () => () => {},
  '-V': () => () => {},
  cpuprofile: () => require('./cpuprofile').addCpuprofile,
  logs: () => require('./logs').addLogs,
  ls: () => require('./status').addLs,
  report: () => require('./report').addReport,
  status: () => require('./status').addStatus,
  tail: () => require('./tail').addTail,
  top: () => require('./top').addTop
})

/** @param {string[]} argv */
async function main (argv) {
  const isAlone = Object.hasOwn(ALONE, argv[2] ?? '') && !argv.includes('--help') && !argv.includes('-h')
  if (!isAlone) openPack('primary', openCompileCache(process.env)) // of which Commander comes, too
  const { Command } = require('commander')
  const program = new Command('recycle')
    .description('Runs any Node.js HTTP app on a fleet of workers and replaces a worker that exceeds its memory ' +
      'budget, without dropping a request.')
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: write, outputError: text => complain(oneSentence(text, argv[2])) })
  program.hook('preAction', (_, command) => { if (command !== program) leanV8.end() })
  if (isAlone) ALONE[argv[2]]()(program)
  else addAll(program, argv)

  watchOutput()
  try {
    await program.parseAsync(isAlone ? argv : withoutSynonym(argv))
  } catch (error) {
    process.exitCode = report(error)
  }
}

/** @param {Command} program @param {string[]} argv */
function addAll (program, argv) {
  require('./run').addRun(program, { isStart: argv[2] === 'start' && synonymOf('start') !== null })
  if (mayNameCommand(argv.slice(2))) addCommands(program, argv)
}

/** @param {string[]} words @returns {boolean} false: they run an app, and no command is in what they print */
function mayNameCommand (words) {
  const { NAMES } = require('./help')
  const { SYNONYMS } = require('./habits')
  return words.every(word => word.startsWith('-') || Object.hasOwn(SYNONYMS, word)) || words.includes('--help') ||
    words.some(word => NAMES.includes(word) || SYNONYMS[word]?.length > 0 || /^-\w*h/.test(word))
}

/** @param {Command} program @param {string[]} argv */
function addCommands (program, argv) {
  const { FEATURES } = require('../features')
  const { count } = require('../core/units')
  const { addFleetName, addFleetOptions, withFleet } = require('./fleet')
  const { addVerbs, verb, act, hasLost, losses } = require('./verbs')
  const { print } = require('./print')
  require('./drill').addDrill(program, argv)
  for (const command of ['report', 'ls', 'status', 'tail', 'logs', 'top']) ALONE[command]()(program)
  addVerbs(program)
  for (const { command } of FEATURES) {
    command?.()(program, {
      addFleetName, addFleetOptions, withFleet, verb, act, complain, print, count, hasLost, losses,
      createNew: name => require('../primary/recycling/private-file').createNew(name)
    })
  }
  ALONE.cpuprofile()(program)
  require('./unit').addUnit(program)
  require('./completion').addCompletion(program)
  require('./help').addHelp(program)
}

/**
 * A first word of another supervisor's that means the same here, unless a file has this name.
 * @param {string[]} argv @returns {string[]}
 */
function withoutSynonym ([node, program, word = '', ...rest]) {
  return [node, program, ...synonymOf(word) ?? (word === '' ? [] : [word]), ...rest]
}

/** @param {string} word @returns {string[] | null} what it stands for; null: itself */
function synonymOf (word) {
  const { SYNONYMS } = require('./habits')
  const isFile = ['', '.js', '.cjs', '.mjs', '.json'].some(ending => fs.existsSync(`${word}${ending}`))
  return Object.hasOwn(SYNONYMS, word) && !isFile ? SYNONYMS[word] : null
}

/** @param {string} text commander's @param {string} command perhaps the app @returns {string} */
function oneSentence (text, command) {
  const answer = require('./habits').answerToFlag(/unknown option '(--[\w-]+|-\w)/.exec(text)?.[1] ?? '')
  if (answer !== null) return `recycle: ${answer}`
  const said = text.trim().replace(/^error: /, '')
    .replace('\n(Did', ': did').replace(/\n\(?/g, '; ').replace(/[).]$/, '')
  const help = require('./help').NAMES.includes(command) ? `help ${command}` : '--help'
  return `recycle: ${shorten(said, MAX_CHARS)}${said.endsWith('?') ? ' See' : '; see'} recycle ${help}`
}

/** Prints the error as one sentence. @param {unknown} error @returns {number} the exit code */
function report (error) {
  const { CommanderError } = require('commander')
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2 // commander has printed it
  if (!(error instanceof RecycleError)) {
    const { syscall, code } = /** @type {NodeJS.ErrnoException} */ (error ?? {})
    if (syscall !== 'uv_cwd') throw error
    complain(`recycle: the working directory is there no more, or cannot be read (${code}); cd to one that can`)
    return 2
  }
  const { option, given } = error.details
  const hint = error.code === 'RECYCLE_BAD_OPTION' ? require('./habits').hintOn(option, given) : ''
  complain(`recycle: ${error.message}${hint}`)
  return error.exitCode
}

module.exports = { main }
