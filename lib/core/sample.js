'use strict'

/**
 * One look at a worker: its memory as the meter read it, and what its last beat said. It holds all that a verdict
 * needs, so that a journal of samples can be judged again.
 *
 * @typedef {object} Reading what a meter returns
 * @property {number} rssBytes
 * @property {number | null} pssBytes null where the meter did not read it this time
 * @property {number | null} ussBytes
 * @property {string} meter which source spoke: statm, smaps_rollup, smaps or pidusage
 *
 * @typedef {object} Sample
 * @property {number | null} rssBytes null where the meter had nothing (the worker is leaving)
 * @property {number | null} pssBytes
 * @property {number | null} ussBytes
 * @property {string | null} meter
 * @property {number} ageMs how long the worker has served, or stood by
 * @property {number} requests that the worker has begun since its start
 * @property {number} silentMs since its last beat; 0 for a worker that a debugger holds
 * @property {'requested' | 'reload' | 'protocol-error' | null} requested why this worker is to be replaced, whatever it uses
 */

/**
 * @param {Reading | null} reading
 * @param {{ ageMs: number, requests: number, silentMs: number, requested: Sample['requested'] }} about
 * @returns {Readonly<Sample>}
 */
function makeSample (reading, { ageMs, requests, silentMs, requested }) {
  return Object.freeze({
    rssBytes: reading?.rssBytes ?? null,
    pssBytes: reading?.pssBytes ?? null,
    ussBytes: reading?.ussBytes ?? null,
    meter: reading?.meter ?? null,
    ageMs,
    requests,
    silentMs,
    requested
  })
}

/**
 * The figure that is held against the budget.
 *
 * @param {Sample} sample
 * @param {'rss' | 'pss' | 'uss'} metric
 * @returns {number | null} bytes; null where this look did not read it, because the guard saw no need to
 */
function figure (sample, metric) {
  return sample[/** @type {'rssBytes'} */ (`${metric}Bytes`)]
}

module.exports = { makeSample, figure }
