'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { RecycleError, badUsage } = require('../core/errors')
const { flagsAfterApp } = require('./habits')
const { OPTIONS } = require('../tables/options')
const { checkTypeScript, fileOf } = require('./app-file')
const { addConfig, loadConfig, pickApp, resolveAll } = require('./config')
const { flagOf, withoutDefaults } = require('./run')
const { complain, complainOf, print, write } = require('./print')
const { showReport, writePage } = require('./report')
/** @import { Config } from './config-contents' */

const NEEDS_OPTIONS = ['drill', 'help', 'completion'] // words: a fleet's own process does without

/** `recycle drill [options] <app> [app args…]` @param {import('commander').Command} program @param {string[]} argv */
function addDrill (program, argv) {
  const command = program.command('drill')
    .description('puts the app under load, recycles its workers meanwhile, stops it under load, ' +
      'and reports what was dropped')
    .argument('[app]', 'the file that `node` would run; the config file may name it instead')
    .argument('[args...]', "the app's own arguments")
    .passThroughOptions()
    .usage('[options] <app> [app args...] | --name <name> --url <url> [options]')
    .addHelpText('after', '\nExit code 0: nothing was dropped; 1: something was; 2: wrong usage, or inconclusive.')
  if (!argv.some(word => NEEDS_OPTIONS.includes(word))) return
  const { DRILL_OPTIONS } = require('../tools/drill/options')
  for (const option of DRILL_OPTIONS) command.addOption(flagOf(option))
  command.option('--html <page>', 'also write the report as a self-contained page')
  command.option('--name <name>',
    'drill the running fleet of this name instead of an app; needs --url; the fleet is not stopped at the end')
  command.option('--control <path>', 'drill the running fleet with this control socket')
  for (const option of OPTIONS) {
    if (!['journal', 'name', 'control'].includes(option.name)) command.addOption(flagOf(option))
  }
  addConfig(command)
  command.action((app, args, given) => run(app, args, given))
}

/**
 * @param {string | undefined} app @param {string[]} args
 * @param {Record<string, unknown>} given by commander: undefined where the flag was not given
 */
async function run (app, args, given) {
  try {
    process.exitCode = await drillAndReport(app, args, given)
  } catch (error) {
    if (!(error instanceof RecycleError)) throw error
    complain(`recycle drill: ${error.message}`)
    process.exitCode = 2 // after any error the result is inconclusive
  }
}

/** @param {string | undefined} app @param {string[]} args @param {Record<string, any>} given @returns the exit code */
async function drillAndReport (app, args, { html, config: named, ...given }) {
  const { drillResolved, drillRunning } = require('../tools/drill')
  const { DRILL_OPTIONS, partOptions } = require('../tools/drill/options')
  const { openProgress } = require('../tools/drill/progress')
  if (given.keepAlive === true) delete given.keepAlive // as in withoutDefaults()
  const nameOf = (/** @type {{ long: string }} */ { long }) => long
  const { own, supervisors } = partOptions(withoutDefaults(given), nameOf)
  const { name, control } = supervisors
  const isRunning = name !== undefined || control !== undefined
  if (isRunning && app !== undefined) {
    throw badUsage('--name and --control select a running fleet; its drill takes no app')
  }
  const misplaced = app === undefined
    ? null
    : flagsAfterApp(app, args, { call: 'recycle drill', options: [...DRILL_OPTIONS, ...OPTIONS] })
  if (misplaced) complainOf('recycle drill', { warning: 'flags-after-app', ...misplaced })
  const log = supervisors.log ?? process.env.RECYCLE_LOG ?? 'silent'
  if (html !== undefined) writePage(html, '') // fails before the drill if the file cannot be written
  const progress = openProgress(openPicture(process.stderr), { isBar: process.stderr.isTTY && log === 'silent' })
  const how = {
    signal: interruption(),
    onProgress: (/** @type {import('../tools/drill/progress').Figures} */ figures) => progress.update(figures)
  }
  const drilled = isRunning
    ? drillRunning(own, supervisors, how, nameOf)
    : loadConfig(named).then(config => {
      const picked = pickApp(app, args, config)
      const toRun = fileOf(picked.app, picked.args)
      const found = config && withoutAddresses(config)
      const resolve = (/** @type {string} */ journal) => {
        const { options } = resolveAll({ ...supervisors, journal, log }, found)
        checkTypeScript(toRun.app, options.nodeOptions)
        return options
      }
      const given = { ...supervisors, log }
      return drillResolved(toRun.app, toRun.args, own, { resolve, given, config: found?.values }, how)
    })
  const outcome = await drilled.finally(() => progress.close())
  const isRecorded = fs.statSync(outcome.file).size > 0
  if (isRecorded) {
    await showReport([outcome.file], { html })
    if (html === undefined) write('\n')
  }
  if (own.out !== null || (isRecorded && outcome.verdict !== 'clean')) print(`The run file is ${outcome.file}`)
  else fs.rmSync(path.dirname(outcome.file), { recursive: true })
  if (outcome.verdict === 'inconclusive') complain(`recycle drill: inconclusive: ${outcome.sentence}`)
  else print(outcome.sentence)
  return outcome.exitCode
}

/**
 * Writes to stderr, of which what is not read in time is left out: the primary of the fleet is in this process.
 * @param {NodeJS.WriteStream} stderr
 */
function openPicture (stderr) {
  const descriptor = require('../primary/descriptor').openDescriptor(2)
  let isWriting = false
  return {
    isTTY: stderr.isTTY,
    get columns () { return stderr.columns },
    write (/** @type {string} */ text) {
      if (isWriting) return
      isWriting = true
      descriptor.write(Buffer.from(text), () => { isWriting = false })
    }
  }
}

/**
 * The fleet of a drill takes neither the name nor the addresses of the production fleet.
 * @param {Config} config @returns {Config}
 */
function withoutAddresses ({ values: { name, control, admin, adminAllowRemote, ...values }, ...rest }) {
  return { ...rest, values }
}

/** The first SIGINT or SIGTERM ends the load early; the second ends the process. @returns {AbortSignal} */
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
