'use strict'

const os = require('node:os')
const { Option } = require('commander')
const { OPTIONS, resolveOptions } = require('../core/options')

/** `recycle [options] <app> [app args…]`, the default command. @param {import('commander').Command} program */
function addRun (program) {
  const command = program
    .argument('<app>', 'the file that `node` would run')
    .argument('[args...]', "the app's own")
    .passThroughOptions()
    .usage('[options] <app> [app args...]')
    .addHelpText('after', '\nEach option can also be set in the environment: --max-rss as RECYCLE_MAX_RSS.')
  for (const option of OPTIONS) command.addOption(flagOf(option))
  command.action((app, args, given) => run(app, args, given))
}

/** @param {import('../core/options').Option} option */
function flagOf ({ name, short, flag, help, shown, kind }) {
  const flags = short ? `${short}, ${flag}` : flag
  const built = new Option(flags, `${help} (default: ${shown})`)
  if (name === 'nodeOption') built.argParser((/** @type {string} */ value, /** @type {string[]} */ before = []) => [...before, value])
  return built
}

/**
 * @param {string} app
 * @param {string[]} args
 * @param {Record<string, any>} given by commander: undefined where the flag was not given
 */
async function run (app, args, given) {
  const { assemble } = require('../primary/start')
  const { obeySignals } = require('../primary/control')
  const options = resolveOptions(withoutDefaults(given), {
    env: process.env,
    parallelism: os.availableParallelism(),
    nameOf: ({ flag }) => flag.split(' ')[0]
  })
  const supervisor = assemble(app, args, options)
  obeySignals(supervisor) // before it takes its time to fork
  supervisor.start()
  const failure = await new Promise(resolve => supervisor.once('stopped', resolve))
  if (failure) throw failure
  process.exit(0)
}

/** Commander gives a `--no-…` flag a default of its own. @param {Record<string, any>} given @returns {Record<string, any>} what was given indeed */
function withoutDefaults (given) {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) =>
    !(value === true && OPTIONS.some(o => o.name === name && o.flag.startsWith('--no-')))))
}

module.exports = { addRun, flagOf, withoutDefaults }
