'use strict'

const { isatty } = require('node:tty')
const { Option } = require('commander')
const { nearest } = require('../core/did-you-mean')
const { answerToCommand, flagsAfterApp } = require('./habits')
const { RecycleError, badUsage } = require('../core/errors')
const { misspeltVariables } = require('./misspelt-variables')
const { OPTIONS } = require('../tables/options')
const { takeServiceEnvironment } = require('./service-environment')
const { ENVIRONMENT } = require('../features')
const { saveOwnCode } = require('../native/own-code')
const { checkTypeScript, fileOf, findStart } = require('./app-file')
const { addConfig, loadConfig, pickApp, resolveAll } = require('./config')
const { NAMES, groupOf } = require('./help')
const { compileWhenBusy } = require('./lean-v8')
const { complainOf, lastWords, paper, write } = require('./print')
/** @import { Command } from 'commander' */

const REPEATABLE = ['nodeOption', 'header'] // the latter is the drill's
const AT_REST_MS = 500 // after the fleet is ready; lean-v8.js changes V8's flags later

/**
 * `recycle [options] <app> [app args…]`, or by the word start, as pm2.
 * @param {Command} program @param {{ isStart?: boolean }} [how]
 */
function addRun (program, { isStart = false } = {}) {
  const command = program
    .argument('[app]', 'the file that `node` would run; the config file may name it instead')
    .argument('[args...]', "the app's own arguments")
    .passThroughOptions()
    .usage('[options] <app> [app args...]')
  for (const option of OPTIONS) command.addOption(flagOf(option))
  addConfig(command)
  command.option('--print-config', 'print each option with its origin, and exit')
  command.action((app, args, given) => {
    const misplaced = app === undefined ? null : flagsAfterApp(app, args, { isStart })
    const dashes = isStart ? args.indexOf('--') : -1 // pm2 does not pass them on
    return run({ app, args: dashes === -1 ? args : args.toSpliced(dashes, 1), misplaced }, given, command)
  })
}

/** @param {Omit<import('../tables/options').Option, 'kind'>} option */
function flagOf ({ name, short, flag, help, defaultText }) {
  const flags = short ? `${short}, ${flag}` : flag
  const built = new Option(flags, `${help} (default: ${defaultText})`).helpGroup(groupOf(name))
  if (REPEATABLE.includes(name)) {
    built.argParser((/** @type {string} */ value, /** @type {string[]} */ before = []) => [...before, value])
  }
  return built
}

/**
 * @typedef {object} Asked
 * @property {string | undefined} app @property {string[]} args @property {ReturnType<typeof flagsAfterApp>} misplaced
 *
 * @param {Asked} asked @param {Record<string, unknown>} given by commander: undefined where the flag was not given
 * @param {Command} command
 */
async function run (asked, given, command) {
  const takeover = require('../primary/succession/find-takeover').findTakeover()
  try {
    await runFleet(asked, given, command, takeover)
  } catch (error) {
    require('../primary/workers/ahead').endAhead()
    await takeover?.fail(/** @type {Error} */ (error).message)
    throw error
  }
}

/**
 * @param {Asked} asked @param {Record<string, unknown>} given @param {Command} command
 * @param {import('../primary/succession/takeover').Takeover | null} takeover
 */
async function runFleet ({ app, args, misplaced }, given, command, takeover) {
  const { config: named, printConfig, ...flags } = withoutDefaults(given)
  const config = await loadConfig(named)
  const found = app === undefined && config?.app === undefined ? findStart('.') : null
  const isBare = app === undefined && config === null && Object.keys(withoutDefaults(given)).length === 0
  if (isBare && found?.start === null && found.why === null) return command.help({ error: true })
  const { options, origins } = resolveAll(flags, config)
  if (printConfig) {
    const { formatOrigins } = require('./config-origins')
    const variables = misspeltVariables(process.env)
    if (variables.length > 0) complainOf('recycle', { warning: 'misspelt-variables', variables })
    write(formatOrigins({ app, args, config, options, origins }, paper()))
    return
  }
  const { ancestors, shellAsInit } = require('./ancestors')
  const hasClosed = require('./terminal').watchTerminal()
  const parents = ancestors() // asked now: a shell may die by the same signal
  const { InheritedSockets } = require('../primary/sockets/inherited-sockets')
  const { Orphans } = require('../primary/orphans')
  const { endAhead } = require('../primary/workers/ahead')
  require('../primary/succession/program') // which notes what the next line takes out
  const service = takeServiceEnvironment(process.env, process.pid, Object.keys(ENVIRONMENT))
  const own = { inherited: new InheritedSockets(service.sockets), orphans: new Orphans(), takeover }
  const picked = found?.start ?? pickApp(app, args, config, found?.why)
  const supervisor = orNoSuchCommand(picked.app, () => {
    const toRun = fileOf(picked.app, picked.args)
    checkTypeScript(toRun.app, options.nodeOptions)
    if (!takeover) require('../primary/workers/start-ahead').startAhead(toRun.app, toRun.args, options)
    return require('../primary/start').assemble(toRun.app, toRun.args, options, own)
  })
  const { primaryBranchOf } = require('../primary/workers/find-app')
  const { formatOf } = require('../primary/log')
  const { obeyParent, obeySignals } = require('./signals')
  const { operate } = require('../operate')
  const { controlFolders, fleetKey } = require('../control/socket-path')
  supervisor.once('stopped', endAhead) // it may stop before its first worker
  const stopped = new Promise(resolve => supervisor.once('stopped', resolve))
  const operations = await operate(supervisor, options, service.variables)
  const { adoption, survivors } = supervisor.parts
  if (options.control !== 'none') {
    survivors.key = fleetKey({ name: supervisor.name, control: options.control }, process.env)
    survivors.home = options.control ?? controlFolders(process.env)[0]
  }
  if (!takeover) await adoption.find()
  supervisor.parts.failures.watchProcess()
  obeySignals(supervisor, hasClosed, parents) // before the forks, which take time
  supervisor.start()
  if (!takeover) obeyParent(supervisor) // whose channel is to the predecessor
  supervisor.ready().then(() => {
    setTimeout(saveOwnCode, AT_REST_MS, options.compileCache).unref()
    compileWhenBusy(supervisor)
    const bytes = unreadInput()
    if (bytes > 0) supervisor.announce('fleet.warning', { warning: 'unread-stdin', bytes })
  }, () => {})
  if (misplaced) supervisor.announce('fleet.warning', { warning: 'flags-after-app', ...misplaced })
  const variables = misspeltVariables(process.env)
  if (variables.length > 0) supervisor.announce('fleet.warning', { warning: 'misspelt-variables', variables })
  const branch = primaryBranchOf(picked.app)
  if (branch !== null) supervisor.announce('fleet.warning', { warning: 'primary-branch', branch })
  const init = shellAsInit(parents)
  if (init !== null) supervisor.announce('fleet.warning', { warning: 'shell-as-init', command: init })
  const failure = await stopped
  await operations.close()
  if (failure) await takeover?.fail(failure.message)
  // Of the lines in JSON one has it already
  if (failure && formatOf(options) !== 'json') await lastWords(`recycle: ${failure.message}`)
  process.exit(failure?.exitCode ?? 0)
}

/** @returns {number} bytes that have been piped to the app and that no process reads */
function unreadInput () {
  if (isatty(0)) return 0
  return require('../native/addon').loadAddon().addon?.unread(0) ?? 0
}

/**
 * `recycle relaod` is parsed as an app of that name: the error says that there is no such command either, and which is
 * like it.
 *
 * @template T @param {string} app @param {() => T} assemble @returns {T}
 */
function orNoSuchCommand (app, assemble) {
  try {
    return assemble()
  } catch (error) {
    if (error instanceof RecycleError && error.code === 'RECYCLE_NO_APP' && /^[\w-]+$/.test(app)) {
      const answer = answerToCommand(app)
      if (answer !== null) throw badUsage(answer)
      const meant = nearest(app, NAMES)
      throw new RecycleError(error.code, {
        ...error.details,
        why: `${error.details.why}, and no such command; ` +
          `${meant ? `did you mean recycle ${meant}?` : 'see recycle --help'}`
      })
    }
    throw error
  }
}

/**
 * Commander adds a default for each `--no-…` flag.
 * @param {Record<string, unknown>} given @returns {Record<string, any>} only the flags of the command line
 */
function withoutDefaults (given) {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) =>
    !(value === true && OPTIONS.some(o => o.name === name && o.flag.startsWith('--no-')))))
}

module.exports = { addRun, flagOf, withoutDefaults }
