'use strict'

const { addFleetName, addFleetOptions, withFleet } = require('./fleet')
const { complain, print } = require('./print')
/** @import { Command } from 'commander' */

/** `recycle cpuprofile <slot>`. @param {Command} program */
function addCpuprofile (program) {
  const command = program.command('cpuprofile')
    .description('Takes a CPU profile of a worker while it serves.')
    .argument('<slot>')
    .option('--duration <time>', 'length of the profile, up to 10m', '10s')
    .option('--out <file>', "a new file (default: by slot, pid and time, in the fleet's working directory)")
  addFleetName(addFleetOptions(command))
    .addHelpText('after', '\nPrints the path of the file, which only you can read; Chrome DevTools opens it. ' +
      'Exit code: 0 the file is written, 1 the worker could not write it, 2 wrong usage, or no such fleet.')
    .action((slot, _name, given) => profile(command, slot, given))
}

/** @param {Command} command @param {string} slot @param {{ out?: string, duration: string }} given */
async function profile (command, slot, { out, duration }) {
  const path = require('node:path')
  const { readAs, types } = require('../core/option-types')
  const { formatSize, formatTime } = require('../core/units')
  const durationMs = readAs(types.time(1, '1ms', { max: 10 * 60_000, to: '10m', such: '10s' }), duration, '--duration')
  const line = await withFleet(command,
    client => client.call('cpuprofile', { target: slot, durationMs, file: out && path.resolve(out) }))
  complain(`slot ${line.slot} (${line.pid}): ${formatSize(line.bytes)} after ${formatTime(line.tookMs)}`)
  print(line.file)
}

module.exports = { addCpuprofile }
