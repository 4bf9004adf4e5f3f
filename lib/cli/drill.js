'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { RecycleError } = require('../core/errors')
const { OPTIONS, resolveOptions } = require('../core/options')
const { DRILL_OPTIONS, partOptions } = require('../drill/options')
const { openProgress } = require('../drill/progress')
const { flagOf, withoutDefaults } = require('./run')

/** `recycle drill [options] <app> [app args…]` @param {import('commander').Command} program */
function addDrill (program) {
  const command = program.command('drill')
    .description('drives the app with load, recycles its workers all along, stops it under load, and says what was dropped')
    .argument('<app>', 'the file that `node` would run')
    .argument('[args...]', "the app's own")
    .passThroughOptions()
    .usage('[options] <app> [app args...]')
    .addHelpText('after', '\nExit code 0: nothing was dropped; 1: something was; 2: wrong usage, or inconclusive.')
  for (const option of DRILL_OPTIONS) {
    const flag = flagOf(/** @type {any} */ (option))
    if (option.name === 'header') flag.argParser((/** @type {string} */ value, /** @type {string[]} */ before = []) => [...before, value])
    command.addOption(flag)
  }
  command.option('--html <page>', 'write the report as a self-contained page as well')
  for (const option of OPTIONS) if (option.name !== 'journal') command.addOption(flagOf(option))
  command.action((app, args, given) => run(app, args, given))
}

/**
 * @param {string} app
 * @param {string[]} args
 * @param {Record<string, any>} given by commander: undefined where the flag was not given
 */
async function run (app, args, given) {
  try {
    process.exitCode = await drillAndReport(app, args, given)
  } catch (error) {
    if (!(error instanceof RecycleError)) throw error
    console.error(`recycle drill: ${error.message}`)
    process.exitCode = 2 // whatever it was, the load never arrived
  }
}

/** @param {string} app @param {string[]} args @param {Record<string, any>} given @returns {Promise<number>} the exit code */
async function drillAndReport (app, args, { html, ...given }) {
  const { drillResolved } = require('../drill')
  if (given.keepAlive === true) delete given.keepAlive // as in withoutDefaults()
  const nameOf = (/** @type {{ flag: string }} */ { flag }) => flag.split(' ')[0]
  const { own, supervisors } = partOptions(withoutDefaults(given), nameOf)
  const log = supervisors.log ?? process.env.RECYCLE_LOG ?? 'silent'
  if (html !== undefined) writePage(html, '') // that it cannot be written is said before, not after
  const progress = openProgress(process.stderr, { isBar: process.stderr.isTTY && log === 'silent' })
  const outcome = await drillResolved(app, args, own, journal => resolveOptions({ ...supervisors, journal, log }, {
    env: process.env,
    parallelism: os.availableParallelism(),
    nameOf
  }), { signal: interruption(), onProgress: figures => progress.update(figures) }).finally(() => progress.close())
  await report(outcome, html)
  if (own.out !== null || outcome.verdict === 'dropped') console.log(`The run file is ${outcome.file}`)
  else fs.rmSync(path.dirname(outcome.file), { recursive: true })
  if (outcome.verdict === 'inconclusive') console.error(`recycle drill: inconclusive: ${outcome.sentence}`)
  else console.log(outcome.sentence)
  return outcome.exitCode
}

/** @param {import('../drill').Outcome} outcome @param {string | undefined} html */
async function report ({ verdict, file }, html) {
  if (verdict === 'inconclusive') return
  const { readReport } = require('../report')
  const { formatReport } = require('../report/table')
  const { report, series } = await readReport([file])
  process.stdout.write(`${formatReport(report, { colors: process.stdout.isTTY && process.stdout.hasColors() })}\n`)
  if (html === undefined) return
  const { renderPage } = require('../report/page')
  writePage(html, renderPage(report, series))
  console.log(`The page is ${html}`)
}

/** @param {string} file @param {string} text */
function writePage (file, text) {
  try {
    fs.writeFileSync(file, text)
  } catch (error) {
    throw new RecycleError('RECYCLE_BAD_OPTION', { option: '--html', given: file, accepts: `a file that can be written (${/** @type {Error} */ (error).message})` })
  }
}

/** The first SIGINT or SIGTERM ends the load early; a second one ends everything. @returns {AbortSignal} */
function interruption () {
  const controller = new AbortController()
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(2)
      controller.abort()
    })
  }
  return controller.signal
}

module.exports = { addDrill }
