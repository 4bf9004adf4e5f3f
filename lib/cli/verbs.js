'use strict'

/** The commands that change a fleet. Each waits until the fleet is done, shows the steps, and sets the exit code. */

const { RELOAD, SIZE_WORDS, VERBS } = require('../features')
const { streamsCut } = require('../core/account')
const { count } = require('../core/units')
const { sayAccounts } = require('../journal/format')
const { addFleetName, addFleetOptions, withFleet } = require('./fleet')
const { complain, print } = require('./print')
const { openSteps } = require('./steps')
/** @import { Command } from 'commander' */

/** @typedef {Record<string, any>} Result */

/** @param {Command} program */
function addVerbs (program) {
  const reload = addFleetName(verb(program, 'reload',
    'Replaces every worker, a few at a time, by one that runs the current code.'))
  for (const [flags, help, preset] of RELOAD.flags) {
    reload.addOption(reload.createOption(flags, help).preset(preset))
  }
  reload.action((_name, { wait, name, control, ...how }, command) => act(command, how,
    ({ recycled, left, closed, outcome }, name) =>
      `${name}${outcome ? `: ${outcome};` : ' is reloaded:'} ${count(recycled.length, 'worker')} replaced, ` +
        `${losses([...recycled, ...left])}${sayClosed(closed)}`,
    ({ recycled, left }) => [...recycled, ...left]))

  addFleetName(verb(program, 'rollback',
    'Replaces every worker by one that runs the release before, where the app is reached by a symbolic link.'))
    .action((_name, given, command) => act(command, {},
      ({ recycled, app, named, closed }, name) =>
        `${name} runs ${app} again: ${count(recycled.length, 'worker')} replaced, ${losses(recycled)}` +
          `${named ? `; the link leads to ${named} still, which the next reload runs` : ''}${sayClosed(closed)}`,
      ({ recycled }) => recycled))

  addFleetName(verb(program, 'recycle', 'Replaces one worker, or all of them.')
    .argument('<slot|pid|all>', 'a number that is both a slot and a pid means the slot'))
    .action((target, _name, given, command) => act(command, { target },
      ({ done }, name) => `${name}: ${count(done.length, 'worker')} replaced, ${losses(done)}`, ({ done }) => done))

  addFleetName(verb(program, 'signal',
    "Has the app's own listeners for a signal called, in every worker: SIGHUP, say, to reopen its log.")
    .argument('<signal>', 'SIGHUP, SIGUSR1, SIGUSR2 or SIGWINCH'))
    .action((signal, _name, given, command) => act(command, { signal },
      ({ signal, told, workers }, name) => `${name}: ${signal} to the app in ${told} of ${count(workers, 'worker')}`))

  addFleetName(verb(program, 'scale',
    'Changes the number of workers; auto: by the load again, where the fleet was started with --workers <min>..<max>.')
    .argument('<n|+1|-1|auto>'))
    .action((first, second, given, command) => {
      const workers = numberOf(first, second, command)
      return act(command, { workers }, ({ from, to, scaled = [], ...about }, name) => {
        const before = workers === 'auto' ? '' : `, ${from} before${to < from ? `, ${losses(scaled)}` : ''}`
        return `${name} has ${count(to, 'worker')}${before}${sayScaled(about)}`
      }, ({ scaled = [] }) => scaled)
    })

  for (const [name, { help, flags, say }] of VERBS) {
    const command = addFleetName(verb(program, name, help))
    for (const [flag, help, read] of flags) command.addOption(command.createOption(flag, help).argParser(read))
    command.action((_name, { wait, name, control, ...how }, command) => act(command, how,
      ({ recycled, ...result }, name) =>
        `${name} ${say(result)}: ${count(recycled.length, 'worker')} replaced, ${losses(recycled)}`,
      ({ recycled }) => recycled))
  }

  addFleetName(verb(program, 'stop', 'Stops the fleet; requests in flight finish.'))
    .option('--now', 'cut the requests in flight')
    .action((_name, { now }, command) => act(command, { now },
      ({ stopped }, name) => `${name} has stopped, ${losses(stopped)}`, ({ stopped }) => now ? [] : stopped))
}

/**
 * `recycle scale shop 4`, as in pm2, is `recycle scale 4 shop`.
 * @param {string} first @param {string | undefined} second @param {Command} command
 */
function numberOf (first, second, command) {
  const isNumber = (/** @type {string} */ text) => /^(?:[+-]?\d+|auto)$/.test(text)
  if (second === undefined || isNumber(first) || !isNumber(second)) return first
  command.setOptionValue('name', first)
  return second
}

/** @param {Result} result @returns {string} what features say of the number of workers */
const sayScaled = result => result[SIZE_WORDS.key] ? SIZE_WORDS.scaled(result[SIZE_WORDS.key]) : ''

/** @param {Command} program @param {string} name @param {string} description */
function verb (program, name, description) {
  return addFleetOptions(program.command(name).description(description))
    .option('--no-wait', 'exit as soon as the fleet has begun')
    .addHelpText('after', '\nExit code: 0 done, 1 failed, or a request was cut, or a worker killed, ' +
      '2 wrong usage, or no such fleet.')
}

/**
 * @param {Command} command @param {Record<string, any>} args @param {(result: Result, name: string) => string} describe
 * @param {(result: Result) => Parameters<typeof hasLost>[0][]} [accounts] whose losses are a failure
 */
async function act (command, args, describe, accounts = () => []) {
  const { wait } = command.opts()
  const doing = command.name()
  await withFleet(command, async (client, name) => {
    if (!wait) {
      await client.call(doing, args, { wait })
      return print(`${name}: ${doing} has begun`)
    }
    const steps = openSteps(process.stderr, doing)
    /** @type {Result} */
    const result = await client.call(
      doing, args, { onProgress: progress => steps.update(/** @type {any} */ (progress)) }
    ).finally(() => steps.close())
    print(describe(result, name))
    for (const { slot, message } of result.failed ?? []) complain(`recycle: slot ${slot}: ${message}`)
    if (result.failed?.length > 0 || accounts(result).some(hasLost)) process.exitCode = 1
  })
}

/** @param {Result[]} lines of the journal, each with an account */
function losses (lines) {
  const ended = (/** @type {string} */ how, /** @type {string} */ said) => {
    const workers = lines.filter(line => line.ended === how).length
    return workers > 0 ? [`${count(workers, 'worker')} ${said}`] : []
  }
  return [...sayAccounts(lines), ...ended('crashed', 'crashed'), ...ended('killed', 'had to be killed')].join(', ')
}

/** @param {string[]} [addresses] undefined: an older primary does not tell @returns {string} */
function sayClosed (addresses = []) {
  return addresses.length > 0 ? `; no worker listens on ${addresses.join(', ')} any more` : ''
}

/**
 * @param {Parameters<typeof streamsCut>[0] & { cut: number, unaccounted: number, ended: string | null }} line of the
 *   journal, with an account
 */
function hasLost (line) {
  const { cut, unaccounted, ended } = line
  return cut > streamsCut(line) || unaccounted > 0 || ended === 'killed' || ended === 'crashed'
}

module.exports = { addVerbs, verb, act, hasLost, losses }
