'use strict'

const { addFleetOptions, withFleet } = require('./fleet')
const { printJson } = require('./print')
/** @import { Command } from 'commander' */

/** `recycle status [name]`. @param {Command} program */
function addStatus (program) {
  const command = program.command('status')
    .description('Shows the state of each worker of a fleet.')
    .argument('[name]', 'name of the fleet, as --name')
    .option('--json', 'print one JSON object instead')
  addFleetOptions(command).action((name, given) => {
    if (name !== undefined) command.setOptionValue('name', name)
    return show(command, given)
  })
}

/** @param {Command} command @param {{ json?: boolean }} given */
async function show (command, { json = false }) {
  const status = await withFleet(command, client => client.call('status'))
  const { stdout } = process
  if (json) return printJson(status)
  const { formatStatus } = require('../operate/control-table')
  stdout.write(formatStatus(status, { width: stdout.columns ?? Infinity, colors: stdout.isTTY && stdout.hasColors() }))
}

module.exports = { addStatus }
