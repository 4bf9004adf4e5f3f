'use strict'

/** Makes a report of journals: the figures, and the series for the page's charts. */

const { readJournals, emptyTally } = require('../journal/reader')
const { RecycleError } = require('../core/errors')
const { Figures } = require('./figures')

/**
 * @typedef {import('./figures').Summary & { skippedLines: number }} Report as printed by `recycle report --json`
 */

/**
 * @param {string[]} files journals of one fleet and run files of `recycle drill`, in any order; rotated, compressed,
 *   still being written
 * @returns {Promise<{ report: Report, series: import('./figures').Series }>}
 * @throws {RecycleError} RECYCLE_UNREADABLE
 */
async function readReport (files) {
  const figures = new Figures()
  const tally = emptyTally()
  for await (const lines of readJournals(files, tally)) {
    for (const line of lines) figures.add(line)
  }
  if (tally.lines === 0) throw new RecycleError('RECYCLE_UNREADABLE', { file: files.join(', '), why: 'it is empty' })
  return { report: { ...figures.summary(), skippedLines: tally.skipped }, series: figures.series() }
}

module.exports = { readReport }
