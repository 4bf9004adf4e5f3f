'use strict'

/** Fleets whose primary is replaced by another one, which is in a process group of its own. */

const { startCli } = require('./fleet')
const { becomesTrue, livingOfGroup } = require('./processes')

/**
 * A fleet by the command line; at the end of the test no process of any of its primaries is left.
 *
 * @param {any} t tap's
 * @param {string[]} args
 * @param {Parameters<typeof startCli>[2] & { workers?: number }} [how]
 */
async function startUpgradable (t, args, { workers = 2, ...how } = {}) {
  const cli = await startCli(t, ['-w', String(workers), '-i', '100ms', '--stop-linger', '200ms', '--kill-timeout', '2s', ...args], how)
  const { child, events } = cli
  /** The pids of all primaries so far, oldest first. */
  const primaries = () => [child.pid, ...events.all('fleet.upgrade').map(({ pid }) => pid).filter(pid => pid !== null)]
  const living = () => primaries().flatMap(pid => livingOfGroup(pid))
  // Before startCli's, which waits for the end of all output
  t.teardown(() => { for (const pid of primaries()) kill(-pid, 'SIGKILL') })
  await events.until('worker.ready', { count: workers })
  return {
    ...cli,
    primaries,
    /** The primary that runs the fleet, by its own line or the last one of that before. @returns {number} */
    primary: () => events.lines.findLast(({ event }) => ['fleet.upgraded', 'fleet.left'].includes(event))?.pid ?? child.pid,
    /** Resolves with whether no process is left. */
    areGone: () => becomesTrue(() => living().length === 0, 20_000),
    living
  }
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function kill (pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

module.exports = { startUpgradable, kill }
