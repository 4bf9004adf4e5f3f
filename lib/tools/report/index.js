'use strict'

/** Makes a report of journals: the figures, and the series for the page's charts. */

const { readJournals, emptyTally } = require('../../journal/reader')
const { RecycleError } = require('../../core/errors')
const { Figures } = require('./figures')

/**
 * The figures of a report, as `recycle report --json` prints them; those of features are beside them, by their keys.
 * `npm run schema` makes its JSON schema of these types. Times are in ms since the epoch, durations in ms, sizes in
 * bytes. Fields are added within a version, never removed or changed in meaning.
 *
 * @typedef {object} Report
 * @property {1} v version of this schema
 * @property {Verdict} verdict
 * @property {string | null} app the app's file
 * @property {string | null} node version of the supervisor's Node
 * @property {number | null} workers as the fleet was started
 * @property {string} metric rss, anon, pss or uss: the figure that is compared with the budget
 * @property {number | null} from the first line
 * @property {number | null} to the last line
 * @property {Load | null} client null: the files have no client records
 * @property {Count | null} requests requests that the client sent and that ended; null without client records
 * @property {Count | null} dropped requests without a complete response with an expected status; null without client
 *   records
 * @property {Count} recycles workers that were replaced
 * @property {Count} crashes workers that exited unexpectedly
 * @property {Count} crashesInDrains those of them that were draining: what they lost is in the account of the drain
 * @property {Count} oomKills workers that the kernel killed because memory ran out: crashes, and workers that left
 * @property {Count} connectionsAtCrashes connections of crashed workers, by their last beats
 * @property {Count} inFlightAtCrashes requests in flight of crashed workers, by their last beats
 * @property {Count} moved connections that a sibling took over
 * @property {Count} refused offers that no sibling took
 * @property {Count} takenBack offers that no sibling took, served by the old worker to the end
 * @property {Count} unacked offers that were never acknowledged: their outcome is not known
 * @property {Count} cut connections that the supervisor ended with a request in flight, in recycles, when scaling and
 *   when stopping
 * @property {Count} streamsCut WebSockets and raw connections that the app had not ended, closed at the drain timeout;
 *   not among cut
 * @property {Record<string, Count>} restarted WebSockets closed for a service restart (1012), by the reason for which
 *   they did not move; stop: the fleet stopped
 * @property {Count} unaccounted connections of workers that gave no account: their requests are not known
 * @property {Record<string, Count>} byReason recycles by their reason
 * @property {{ steady: Percentiles | null, recycling: Percentiles | null }} latency as the client saw it: while a
 *   worker was being replaced, scaled away or stopped, and else; null where nothing was seen
 * @property {Pauses | null} gc pauses by garbage collections, by the samples of all workers; null: the journal does not
 *   record them
 * @property {DropFigures[]} drops every drop; of very many the latest
 * @property {Count} dropsOmitted drops that are not listed
 * @property {RecycleEvent[]} recycleEvents every worker that was replaced, scaled away or stopped; of very many the
 *   latest, and those that cut or dropped something
 * @property {Count} recycleEventsOmitted events that are not listed
 * @property {CrashEvent[]} crashEvents every crash; of very many the latest
 * @property {Count} crashEventsOmitted crashes that are not listed
 * @property {Count} clockSetBackMs by how much, in all, the machine's clock was set back between two lines of the
 *   supervisor: times may not be in order; durations are right
 * @property {Count} clockSetForwardMs the machine's clock was set forward by so much, or the machine slept: durations
 *   are right
 * @property {Gap[]} gaps what the journal does not say: the first hundred
 * @property {Disagreement[]} disagreements disagreements between client and supervisor; empty without client records
 * @property {Count} skippedLines lines that were skipped: truncated, or of another version
 */

/** @import { CrashEvent } from '../../journal/audit' */
/** @import { DropFigures, Load } from './client' */
/** @import { Pauses } from './collections' */
/** @import { Disagreement } from './figures' */
/** @import { Gap } from './gaps' */
/** @import { Percentiles } from './histogram' */
/** @import { Count } from '../../core/journal-field' */
/** @import { RecycleEvent } from '../../journal/recycle-event' */
/** @import { Verdict } from '../../journal/verdict' */

const thisMachine = () => ({
  now: Date.now(), // eslint-disable-line no-restricted-properties -- journals are in the time of the day
  isAlive: isRunning
})

/**
 * @param {string[]} files journals of one fleet and run files of `recycle drill`, in any order; rotated, compressed,
 *   still being written
 * @param {{ now: number, isAlive: (pid: number) => boolean }} [machine] by which it is told whether the fleet still
 *   runs
 * @returns {Promise<{ report: Report, series: import('./figures').Series }>} @throws {RecycleError} RECYCLE_UNREADABLE
 */
async function readReport (files, { now, isAlive } = thisMachine()) {
  const figures = new Figures()
  const tally = emptyTally()
  for await (const lines of readJournals(files, tally)) {
    for (const line of lines) figures.add(line)
  }
  if (tally.lines === 0) throw new RecycleError('RECYCLE_UNREADABLE', { file: files.join(', '), why: 'it is empty' })
  const { at, pid, patienceMs } = figures.gaps
  const runsOn = at !== null && now - at < patienceMs && (pid === null || isAlive(pid))
  return { report: { ...figures.summary({ runsOn }), skippedLines: tally.skipped }, series: figures.series() }
}

/** @param {number} pid */
function isRunning (pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

module.exports = { readReport }
