'use strict'

/** Selects the fleet of a command, and connects to it. */

const { RecycleError, badUsage } = require('../core/errors')
const { readAs, types } = require('../core/option-types')
/** @import { Command } from 'commander' */

const LAST = '10'

/** @param {Command} command @returns {Command} */
function addFleetOptions (command) {
  return command
    .option('--name <name>', 'the fleet of this name (default: the only running fleet)')
    .option('--control <path>', 'the fleet with this control socket, or with one in this folder')
}

/** The fleet's name as the last argument. @param {Command} command */
function addFleetName (command) {
  command.argument('[name]', 'name of the fleet, as --name')
  return command.hook('preAction', (_, { args, registeredArguments }) => {
    const name = args[registeredArguments.length - 1]
    if (name !== undefined) command.setOptionValue('name', name)
  })
}

/** @param {Command} command that prints what is there, and goes on @param {string} what it prints */
function addFollow (command, what) {
  return command
    .option('-n, --last <n>', `begin with the last n ${what} (default: ${LAST})`)
    .option('-f, --follow', 'go on with what comes (default)')
    .option('--no-follow', 'print them, and end')
}

/** @param {{ last?: string, follow?: boolean }} given */
function readFollow ({ last = LAST, follow = true }) {
  readAs(types.whole(), last, '--last')
  return { last, isFollowed: follow }
}

/**
 * The fleet's name or socket, as given after the command, before it, or in the environment.
 * @param {Command} command @returns {{ name?: string, control?: string }}
 * @throws {RecycleError} RECYCLE_BAD_USAGE for other options before the command: those of `recycle <app>`
 */
function fleetOf (command) {
  const parent = /** @type {Command} */ (command.parent)
  const foreign = parent.options.find(option => !['name', 'control'].includes(option.attributeName()) &&
    parent.getOptionValueSource(option.attributeName()) === 'cli')
  if (foreign) {
    throw badUsage(`${foreign.long} is an option of recycle <app>, not of recycle ${command.name()}; ` +
      `an app of that name is started by its path: ./${command.name()}`)
  }
  const { name, control } = { ...parent.opts(), ...command.opts() }
  if (name !== undefined || control !== undefined) return { name, control }
  const { RECYCLE_NAME, RECYCLE_CONTROL } = process.env
  return { name: RECYCLE_NAME || undefined, control: RECYCLE_CONTROL === 'none' ? undefined : RECYCLE_CONTROL }
}

/**
 * @template T
 * @param {Command} command @param {(client: import('../control/client').Client, name: string) => Promise<T>} use
 * @returns {Promise<T>}
 * @throws {RecycleError} RECYCLE_NO_FLEET, RECYCLE_NO_ANSWER, RECYCLE_SEVERAL_FLEETS and what the fleet throws
 */
async function withFleet (command, use) {
  const { connect } = require('../control/client')
  const { path, name } = await find(command)
  const client = await connect(path)
  try {
    return await use(client, name)
  } finally {
    client.close()
  }
}

/** As findFleet(), in the words of pm2 too: `all`, and the number of an app. @param {Command} command */
async function find (command) {
  const { findFleet } = require('../control/client')
  const which = fleetOf(command)
  try {
    return await findFleet(which)
  } catch (error) {
    if (!(error instanceof RecycleError) || error.code !== 'RECYCLE_NO_FLEET') throw error
    if (!error.details.running) throw new RecycleError('RECYCLE_NO_FLEET', { ...error.details, orphans: orphans() })
    if (which.name === 'all') return findFleet({})
    const answer = require('./habits').answerToFleet(command.name(), which.name ?? '')
    throw answer === null ? error : badUsage(`${error.message}; ${answer}`)
  }
}

/** @returns {string} a sentence's end about workers that no supervisor has; '' where there are none */
function orphans () {
  const { sayOrphans } = require('../core/orphan')
  const { pathsOfUnixSockets } = require('../native/proc')
  return sayOrphans(pathsOfUnixSockets(), Number(process.geteuid?.()))
}

module.exports = { addFleetOptions, addFleetName, addFollow, readFollow, withFleet, orphans }
