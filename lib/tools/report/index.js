'use strict'

/** Makes a report of journals: the figures, and the series for the page's charts. */

const { readJournals, emptyTally } = require('../../journal/reader')
const { RecycleError } = require('../../core/errors')
const { Figures } = require('./figures')

/** @typedef {import('./figures').Summary & { skippedLines: number }} Report as printed by `recycle report --json` */

const thisMachine = () => ({ now: Date.now(), isAlive: isRunning }) // eslint-disable-line no-restricted-properties -- journals'

/**
 * @param {string[]} files journals of one fleet and run files of `recycle drill`, in any order; rotated, compressed,
 *   still being written
 * @param {{ now: number, isAlive: (pid: number) => boolean }} [machine] by which it is told whether the fleet still
 *   runs
 * @returns {Promise<{ report: Report, series: import('./figures').Series }>}
 * @throws {RecycleError} RECYCLE_UNREADABLE
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
