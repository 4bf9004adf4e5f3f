'use strict'

const { RecycleError } = require('../core/errors')
const { readAs, types } = require('../core/option-types')
const { addFleetName, addFleetOptions, withFleet } = require('./fleet')
const { printJson, write } = require('./print')
/** @import { Command } from 'commander' */

const LAST = 10
const ALL = 100 // that a primary keeps: from its start on

/** `recycle tail`. @param {Command} program */
function addTail (program) {
  const command = program.command('tail')
    .description('Prints the events of a fleet as they happen, until the fleet ends.')
    .option('-n, --last <n>', `begin with the last n events, up to 100 (default: ${LAST})`)
    .option('-f, --follow', 'go on with what comes (default)')
    .option('--no-follow', 'print them, and end')
    .option('--json', 'print the lines of the journal, samples included')
  addFleetName(addFleetOptions(command)).action((_name, given) => tail(command, given))
}

/** @param {Command} command @param {{ last?: string, follow?: boolean, json?: boolean }} given */
async function tail (command, { last = String(LAST), follow: isFollowed = true, json = false }) {
  readAs(types.whole(), last, '--last')
  const { prettyLine, isQuiet } = require('../journal/sentence')
  const { stdout } = process
  stdout.on('error', () => process.exit())
  const colors = stdout.isTTY && stdout.hasColors()
  const show = (/** @type {Record<string, any>} */ line) => {
    if (json) printJson(line)
    else if (!isQuiet(line)) write(`${prettyLine(line, { colors })}\n`)
  }
  const follow = (/** @type {string | number} */ last) => withFleet(command, async client => {
    const read = () => { client.socket.resume() }
    let wasLate = false
    const showAtItsPace = (/** @type {Record<string, any>} */ line) => {
      show(line)
      if (!stdout.writableNeedDrain || client.socket.isPaused()) return
      wasLate = true
      client.socket.pause() // the fleet disconnects it when too much is unread
      stdout.once('drain', read)
    }
    try {
      return await client.follow(showAtItsPace, { last: Number(last), isOver: !isFollowed })
    } catch (error) {
      if (!wasLate) throw error
      throw new RecycleError('RECYCLE_CUT_OFF', { why: 'what is printed here was not read in time' })
    } finally {
      stdout.removeListener('drain', read)
    }
  })
  let isLeft = await follow(last)
  while (isLeft) isLeft = await follow(ALL) // of the new primary
}

module.exports = { addTail }
