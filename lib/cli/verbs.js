'use strict'

/** The verbs that have a fleet do something: each waits until it is done, shows the steps, and exits by what happened. */

const { addFleetOptions, withFleet } = require('./fleet')
const { openSteps } = require('./steps')
const { complain, print } = require('./print')

/** @typedef {import('commander').Command} Command @typedef {Record<string, any>} Result */

/** @param {Command} program */
function addVerbs (program) {
  verb(program, 'reload', 'Replaces every worker by one that runs the code of now, a few at a time.')
    .action((given, command) => act(command, {}, ({ recycled }, name) => `${name} is reloaded: ${count(recycled.length, 'worker')} replaced, ${losses(recycled)}`))

  verb(program, 'recycle', 'Replaces a worker, or each of them.')
    .argument('<slot|pid|all>', 'a number that is a slot is that slot')
    .action((target, given, command) => act(command, { target }, ({ done }, name) => `${name}: ${count(done.length, 'worker')} replaced, ${losses(done)}`))

  verb(program, 'gc', 'Has a worker collect its garbage: out of rotation, so that no request waits for it.')
    .argument('<slot|all>')
    .action((target, given, command) => act(command, { target }, ({ done }, name) => `${name}: ${count(done.length, 'worker')} collected`))

  verb(program, 'scale', 'Changes how many workers there are.')
    .argument('<n|+1|-1>')
    .action((workers, given, command) => act(command, { workers }, ({ from, to }, name) => `${name} has ${count(to, 'worker')}, ${from} before`))

  verb(program, 'stop', 'Stops the fleet: what is in flight finishes.')
    .option('--now', 'cut what is in flight')
    .action(({ now }, command) => act(command, { now }, ({ stopped }, name) => `${name} has stopped, ${losses(stopped)}`))
}

/** @param {Command} program @param {string} name @param {string} description */
function verb (program, name, description) {
  return addFleetOptions(program.command(name).description(description))
    .option('--no-wait', 'exit as soon as the fleet has begun')
    .addHelpText('after', '\nExit code: 0 it is done, 1 it could not be done, 2 wrong usage, or no such fleet.')
}

/**
 * @param {Command} command
 * @param {Record<string, any>} args
 * @param {(result: Result, name: string) => string} told
 */
async function act (command, args, told) {
  const { wait } = command.opts()
  const doing = command.name()
  await withFleet(command, async (client, name) => {
    if (!wait) {
      await client.call(doing, args, { wait })
      return print(`${name}: ${doing} has begun`)
    }
    const steps = openSteps(process.stderr, doing)
    /** @type {Result} */
    const result = await client.call(doing, args, { onProgress: progress => steps.update(/** @type {any} */ (progress)) }).finally(() => steps.close())
    print(told(result, name))
    for (const { slot, message } of result.failed ?? []) complain(`recycle: slot ${slot}: ${message}`)
    if (result.failed?.length > 0) process.exitCode = 1
  })
}

/** @param {Result[]} lines of the journal, each with an account */
function losses (lines) {
  const sum = (/** @type {string} */ field) => lines.reduce((sum, line) => sum + (line[field] ?? 0), 0)
  return `${sum('cut')} cut, ${sum('moved')} moved`
}

/** @param {number} n @param {string} what */
function count (n, what) {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

module.exports = { addVerbs }
