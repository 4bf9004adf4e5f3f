'use strict'

/** Parts of sentences of the journal's events. */

const { streamsCut } = require('../core/account')
const { count, formatSize, formatTime } = require('../core/units')
const { countRestarted } = require('../core/why-stayed')
/** @import { Format } from '../features' */
/** @import { JournalLine } from '../lines' */
/** @import { Line } from './sentence' */

/** @type {Format['worker']} */
const workerOf = l => `${l.slot === null ? 'standby' : `slot ${l.slot}`} (${l.pid})`

/** @param {JournalLine<'recycled'>} l */
function sizes (l) {
  return l.rssBefore === null || l.rssAfter === null
    ? 'RSS unknown'
    : `RSS ${formatSize(l.rssBefore)} → ${formatSize(l.rssAfter)}`
}

/**
 * @param {Line[]} lines each with an account @param {Record<string, string>} [details] more that is told, by field
 * @returns {string[]} what has become of the connections
 */
function sayAccounts (lines, details = {}) {
  const sum = (/** @type {string} */ field) => lines.reduce((sum, line) => sum + (line[field] ?? 0), 0)
  const streams = lines.reduce((sum, line) => sum + streamsCut(line), 0)
  const restarted = lines.reduce((sum, line) => sum + countRestarted(line), 0)
  return [
    `${sum('cut') - streams} cut`,
    `${sum('moved')} moved`,
    ...streams > 0 ? [`${count(streams, 'stream')} closed at the deadline`] : [],
    ...restarted > 0 ? [`${count(restarted, 'WebSocket')} closed for a service restart`] : [],
    ...Object.entries({ ...details, unaccounted: 'unaccounted for' })
      .flatMap(([field, said]) => sum(field) > 0 ? [`${sum(field)} ${said}`] : [])
  ]
}

/** @type {Format} */
const FORMAT = { size: bytes => formatSize(Math.round(bytes)), time: formatTime, count, worker: workerOf }

module.exports = { FORMAT, sayAccounts, workerOf, sizes }
