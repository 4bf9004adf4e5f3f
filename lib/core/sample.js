'use strict'

/** @import { Sampled as Limited } from '../features' */
/** @import { Asked } from '../tables/reasons' */

/**
 * A sample of a worker: its memory as the meter read it, and the figures of its last beat. It has everything that a
 * verdict needs, so that decisions can be replayed from a journal.
 *
 * @typedef {'rss' | 'anon' | 'pss' | 'uss'} Metric the figure that is compared with the budget
 *
 * @typedef {object} Reading of a meter
 * @property {number} rssBytes
 * @property {number | null} anonBytes of that, without pages of files; null: this meter does not know
 * @property {number | null} pssBytes null: the meter did not read it this time
 * @property {number | null} ussBytes
 * @property {string} meter the source: statm, smaps_rollup, smaps or pidusage
 *
 * @typedef {{ [Field in keyof Reading]: Reading[Field] | null } & About & Limited} Sample null: the meter had no
 *   reading, because the worker is leaving
 *
 * @typedef {object} About
 * @property {number} ageMs time in service, or as a standby
 * @property {number} requests that the worker has begun since its start
 * @property {number} silentMs since anything was heard of it
 * @property {Asked | null} requested a reason to replace the worker other than its budget
 */

const NO_READING = Object.freeze({ rssBytes: null, anonBytes: null, pssBytes: null, ussBytes: null, meter: null })

/** @param {Reading | null} reading @param {About & Limited} about @returns {Readonly<Sample>} */
const makeSample = (reading, about) => Object.freeze({ ...NO_READING, ...reading, ...about })

/**
 * The figure that is compared with the budget.
 * @param {Pick<Sample, 'rssBytes' | 'anonBytes' | 'pssBytes' | 'ussBytes'>} sample @param {Metric} metric
 * @returns {number | null} bytes; null: this sample has no such reading, because statm showed that none was needed
 */
const figure = (sample, metric) => sample[/** @type {'rssBytes'} */ (`${metric}Bytes`)]

module.exports = { makeSample, figure }
