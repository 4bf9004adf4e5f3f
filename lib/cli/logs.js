'use strict'

const { badUsage } = require('../core/errors')
const { addFleetName, addFleetOptions, addFollow, readFollow, withFleet } = require('./fleet')
/** @import { Command } from 'commander' */

const OUTPUTS = [1, 2]

/** `recycle logs [name]`. @param {Command} program */
function addLogs (program) {
  const command = program.command('logs')
    .description('Follows what a fleet and its workers print, where that goes to a file or to the journal of systemd.')
  addFleetName(addFleetOptions(addFollow(command, 'lines'))).action((_name, given) => logs(command, given))
}

/** @param {Command} command @param {{ last?: string, follow?: boolean }} given */
async function logs (command, given) {
  const { last, isFollowed } = readFollow(given)
  const { pid, name } = await withFleet(command, async client =>
    /** @type {NonNullable<typeof client.hello>} */ (client.hello))
  const [program, ...args] = reader(name, pid, last, isFollowed)
  const { spawn } = require('node:child_process')
  const reading = spawn(program, args, { stdio: 'inherit' })
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM'])
  for (const signal of signals) process.on(signal, () => reading.kill(signal))
  await new Promise((resolve, reject) => {
    reading.once('error', error =>
      reject(badUsage(`${program} cannot be run: ${error.message}`)))
    reading.once('exit', (code, signal) => {
      process.exitCode = code ?? 0
      for (const signal of signals) process.removeAllListeners(signal)
      if (signal !== null) process.kill(process.pid, signal)
      resolve(undefined)
    })
  })
}

/**
 * By where the primary's stdout and stderr lead; the workers have the same.
 * @param {string} name @param {number} pid @param {string} last @param {boolean} follow
 * @returns {string[]} the command that reads them
 */
function reader (name, pid, last, follow) {
  const fs = require('node:fs')
  const refuse = (/** @type {string} */ why) =>
    badUsage(`the output of ${name} cannot be followed: ${why}`)
  let places
  let cgroup
  try {
    places = [...new Set(OUTPUTS.map(fd => fs.readlinkSync(`/proc/${pid}/fd/${fd}`)))]
    cgroup = fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch (error) {
    throw refuse(/** @type {Error} */ (error).message)
  }
  const files = places.filter(place => place.startsWith('/') && !place.startsWith('/dev/'))
  if (files.some(file => file.endsWith(' (deleted)'))) throw refuse(`its file, ${files.join(' ')}, has been removed`)
  if (files.length > 0) return ['tail', '-q', '-n', last, ...follow ? ['-F'] : [], ...files]
  const unit = /([^/\n]+\.service)(?:\/|$)/m.exec(cgroup.replace(/user@\d+\.service\//, ''))?.[1]
  if (unit && places.some(place => place.startsWith('socket:'))) {
    const ofUser = cgroup.includes('/user@') ? ['--user'] : []
    return ['journalctl', ...ofUser, '-n', last, ...follow ? ['-f'] : [], '-u', unit]
  }
  const pipe = 'a pipe, and its reader has it: docker logs -f, kubectl logs -f, or the program that has started it'
  throw refuse(
    `it goes to ${[...new Set(places.map(place => /^(?:pipe|socket):/.test(place) ? pipe : place))].join(' and ')}`
  )
}

module.exports = { addLogs }
