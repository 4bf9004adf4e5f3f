'use strict'

const { RecycleError } = require('../core/errors')
const { addFleetName, addFleetOptions, addFollow, readFollow, withFleet } = require('./fleet')
const { paper, printJson, write } = require('./print')
/** @import { Command } from 'commander' */

const ALL = 100 // that a primary keeps: from its start on

/** `recycle tail`. @param {Command} program */
function addTail (program) {
  const command = program.command('tail')
    .description('Prints the events of a fleet as they happen, until the fleet ends.')
  addFollow(command, 'events, up to 100').option('--json', 'print the lines of the journal, samples included')
  addFleetName(addFleetOptions(command)).action((_name, given) => tail(command, given))
}

/** @param {Command} command @param {{ last?: string, follow?: boolean, json?: boolean }} given */
async function tail (command, { json = false, ...given }) {
  const { last, isFollowed } = readFollow(given)
  const { prettyLine, isQuiet } = require('../journal/sentence')
  const { stdout } = process
  stdout.on('error', () => process.exit())
  const how = paper()
  const show = (/** @type {Record<string, any>} */ line) => {
    if (json) printJson(line)
    else if (!isQuiet(line)) write(`${prettyLine(line, how)}\n`)
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
