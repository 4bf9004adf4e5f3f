'use strict'

const { addFleetName, addFleetOptions, withFleet, orphans } = require('./fleet')
const { complain, paper, printJson, write } = require('./print')
/** @import { Command } from 'commander' */

/** `recycle status [name]`. @param {Command} program */
function addStatus (program) {
  const command = program.command('status')
    .description('Shows the state of each worker of a fleet.')
    .option('--json', 'print one JSON object instead')
  addFleetName(addFleetOptions(command)).action((_name, given) => show(command, given))
}

/** @param {Command} command @param {{ json?: boolean }} given */
async function show (command, { json = false }) {
  const status = await withFleet(command, client => client.call('status'))
  if (json) return printJson(status)
  const { formatStatus } = require('../operate/control-table')
  write(formatStatus(status, paper()))
}

/** `recycle ls`: the fleets that are running. @param {import('commander').Command} program */
function addLs (program) {
  program.command('ls')
    .description('Lists the running fleets.')
    .option('--json', 'print a JSON array instead')
    .addHelpText('after', '\nLists the fleets of this user, for root those of all users, except those with --control ' +
      '<path> or a RECYCLE_CONTROL_DIR of their own.')
    .action(given => list(given))
}

/** @param {{ json?: boolean }} given */
async function list ({ json = false }) {
  const { connect, listFleets } = require('../control/client')
  const { distrusted, searchedFolders } = require('../control/socket-path')
  const ofAll = { ofAll: true }
  const fleets = await Promise.all((await listFleets(process.env, ofAll)).map(async ({ path, ...fleet }) => {
    if (fleet.pid === null) return { ...fleet, control: path, totals: null }
    const client = await connect(path).catch(() => null)
    const status = await client?.call('status').catch(() => null) ?? null
    client?.close()
    return {
      ...fleet, control: path, totals: status?.totals ?? null, rssBytes: sumOf(status?.workers ?? [], 'rssBytes')
    }
  }))
  for (const why of distrusted(process.env, ofAll)) complain(`ignored: ${why}`)
  if (json) return printJson(fleets)
  if (fleets.length === 0) {
    return complain(`no fleet is running, as far as ${searchedFolders(process.env).join(' or ')} tells; ` +
      `a service may have a folder of its own: RECYCLE_CONTROL_DIR${orphans()}`)
  }
  const { formatFleets } = require('../operate/control-table')
  write(formatFleets(fleets, paper()))
}

/** @template {string} Field @param {{ [Name in Field]?: number | null }[]} workers @param {Field} field */
const sumOf = (workers, field) => workers.reduce((sum, worker) => sum + (worker[field] ?? 0), 0)

module.exports = { addStatus, addLs }
