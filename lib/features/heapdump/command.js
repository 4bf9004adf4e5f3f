'use strict'

/** @import { Command } from 'commander' */
/** @import { CommandTools as Tools } from '..' */

/** `recycle heapdump <slot>`. @param {Command} program @param {Tools} tools */
function addHeapdump (program, tools) {
  const command = program.command('heapdump')
    .description('Writes a heap snapshot of a worker, which is out of rotation meanwhile: no request waits for it.')
    .argument('<slot>')
    .option('--out <file>', "a new file (default: by slot, pid and time, in the fleet's working directory)")
    .addOption(program.createOption('--then <what>',
      'recycle the worker afterwards (default: the worker returns to service)').choices(['recycle']))
  tools.addFleetName(tools.addFleetOptions(command))
    .addHelpText('after', '\nPrints the path of the file, which only you can read. Exit code: 0 the file is written, ' +
      '1 the worker could not write it, or its recycle cut something, 2 wrong usage, or no such fleet.')
    .action((slot, _name, given) => dump(command, slot, given, tools))
}

/**
 * @param {Command} command @param {string} slot @param {{ out?: string, then?: 'recycle' }} given @param {Tools} tools
 */
async function dump (command, slot, { out, then }, { withFleet, complain, print, hasLost, losses }) {
  const path = require('node:path')
  const { count, formatSize, formatTime } = require('../../core/units')
  const line = await withFleet(command,
    client => client.call('heapdump', { target: slot, file: out && path.resolve(out), then }))
    .catch(error => {
      if (error.details?.written) print(error.details.written) // and then its worker was not replaced
      throw error
    })
  const replaced = line.recycled ? `; replaced by ${line.recycled.pid}, ${losses([line.recycled])}` : ''
  complain(`slot ${line.slot} (${line.pid}): ${formatSize(line.bytes)}, written out of rotation ` +
    `in ${formatTime(line.pauseMs)}, ${count(line.moved, 'connection')} moved${replaced}`)
  print(line.file)
  if (line.recycled && hasLost(line.recycled)) process.exitCode = 1
}

module.exports = { addHeapdump }
