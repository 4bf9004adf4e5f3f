'use strict'

const { pathToFileURL } = require('node:url')

/** @import { Command } from 'commander' */
/** @import { CommandTools as Tools } from '..' */
/** @import { Branch, Growth } from './growth' */

/** @typedef {{ for: string, all?: boolean, json?: boolean, html?: string, save?: string }} Given */

/** `recycle leak [slot]`. @param {Command} program @param {Tools} tools */
function addLeak (program, tools) {
  const command = program.command('leak')
    .description('Finds the function that leaks: profiles the allocations of one worker under the load that there is.')
    .argument('[slot]', 'of the worker (default: the one with the most memory)')
    .option('--for <time>', 'length of the study, 2s to 60m', '60s')
    .option('--all', 'name functions of packages and of Node.js, too')
    .option('--json', 'print one JSON object instead')
    .option('--html <file>', 'write a page with a flame graph of the growth to a new file')
    .option('--save <file>', 'write the growth as a .heapprofile, which Chrome DevTools opens, to a new file')
  tools.addFleetName(tools.addFleetOptions(command))
    .addHelpText('after', '\nThe worker is replaced by one that is profiled, and that one by an ordinary worker ' +
      'at the end, which Ctrl-C brings forward; nothing is dropped. Exit code: 0 the study has ended, whether ' +
      'it found a leak or not, 1 it could not be made, or a recycle cut something, 2 wrong usage, or no such fleet.')
    .action((slot, _name, given) => study(command, slot, given, tools))
}

/** @param {Command} command @param {string | undefined} slot @param {Given} given @param {Tools} tools */
async function study (
  command, slot, { for: time, all = false, json = false, html, save },
  { withFleet, complain, print, hasLost, losses, createNew }
) {
  const fs = require('node:fs')
  const { readAs, types } = require('../../core/option-types')
  const { formatTime } = require('../../core/units')
  const forMs = readAs(types.time(2000, '2s', { max: 60 * 60_000, to: '60m', such: '60s' }), time, '--for')
  const files = [html, save].map(file => file === undefined ? null : createNew(file))
  const drop = () => { for (const file of files) if (file !== null) fs.rmSync(file, { force: true }) } // they are empty
  const result = await withFleet(command, async client => {
    const status = await client.call('status')
    const target = slot ?? largest(status)
    // Another is refused
    if (status.workers.some((/** @type {{ slot: number }} */ worker) => String(worker.slot) === String(target))) {
      complain(`the worker of slot ${target} is replaced by one that is profiled for ${formatTime(forMs)}; ` +
        'Ctrl-C ends it')
    }
    process.once('SIGINT', () => { // the fleet notices that its client is gone
      complain('ended; an ordinary worker is put back')
      drop()
      process.exit(130)
    })
    return client.call('leak', { target, forMs, isWhole: all })
  }).catch(error => {
    drop()
    throw error
  })
  const [htmlFile, saveFile] = files
  if (htmlFile !== null) fs.writeFileSync(htmlFile, require('./page').renderPage(result))
  if (saveFile !== null) fs.writeFileSync(saveFile, heapProfile(result.growth))
  const paper = { width: process.stdout.columns ?? Infinity, folder: process.cwd() }
  if (json) print(JSON.stringify(result))
  else for (const line of require('./table').linesOf(result, paper)) print(line)
  const { slot: of, recycled, notRestored } = result
  complain(`slot ${of}: ${notRestored ? 'the profiled worker serves on' : 'an ordinary worker serves again'}, ` +
    `${losses(recycled)}${notRestored ? `: ${notRestored}` : ''}`)
  if (recycled.some(hasLost) || result.verdict === 'unread' || notRestored) process.exitCode = 1
}

/**
 * @param {import('../../primary/supervisor').Status} status
 * @returns {number | null} the slot of the worker in service that has most memory
 */
function largest ({ workers }) {
  const serving = workers.filter(({ slot, state }) => slot !== null && state === 'ready')
  const { RecycleError } = require('../../core/errors')
  if (serving.length === 0) throw new RecycleError('RECYCLE_VERB_FAILED', { why: 'no worker serves at the moment' })
  return serving.reduce((most, worker) => Number(worker.rssBytes) > Number(most.rssBytes) ? worker : most).slot
}

/** The growth in the format of `HeapProfiler.getSamplingProfile`, which Chrome DevTools opens as a .heapprofile. */

/** @param {Growth | null} growth @returns {string} JSON */
function heapProfile (growth) {
  let lastId = 0
  /** @type {{ nodeId: number, size: number, ordinal: number }[]} */
  const samples = []
  /** @param {Branch} branch @returns {object} */
  const nodeOf = ({ name, file, line, column, bytes, children }) => {
    const id = ++lastId
    if (bytes > 0) samples.push({ nodeId: id, size: bytes, ordinal: samples.length + 1 })
    const url = file.startsWith('/') ? pathToFileURL(file).href : file
    return {
      callFrame: { functionName: name, scriptId: '0', url, lineNumber: line - 1, columnNumber: column - 1 },
      selfSize: bytes, id, children: children.map(nodeOf)
    }
  }
  const head = nodeOf({
    name: '(root)', file: '', line: 0, column: 0, kind: 'node', bytes: 0, children: growth?.tree ?? []
  })
  return JSON.stringify({ head, samples })
}

module.exports = { addLeak, heapProfile }
