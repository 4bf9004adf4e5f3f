'use strict'

/** Parts of sentences of the journal's events. */

const { count, formatSize, formatTime } = require('../core/units')
/** @import { Format } from '../features' */
/** @import { Line } from './sentence' */

/** @param {Line} l */
function workerOf (l) {
  return `${l.slot === null ? 'standby' : `slot ${l.slot}`} (${l.pid})`
}

/** @param {Line} l */
function sizes (l) {
  return l.rssBefore === null || l.rssAfter === null ? 'RSS unknown' : `RSS ${formatSize(l.rssBefore)} → ${formatSize(l.rssAfter)}`
}

/** @type {Format} */
const FORMAT = { size: bytes => formatSize(Math.round(bytes)), time: formatTime, sizes, count, worker: workerOf }

module.exports = { FORMAT, workerOf, sizes }
