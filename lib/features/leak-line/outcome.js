'use strict'

/**
 * The outcome of a study, from its readings:
 *
 *     grows    functions whose memory has grown in both halves of the time
 *     fills    functions whose memory has grown, though hardly in the second half: caches that fill up
 *     outside  the memory outside V8's heap alone has grown
 *     none     nothing has
 *     few      too few requests to say
 *     unread   there are not two readings
 *
 * @typedef {object} Usage at a reading, after a collection
 * @property {number} atMs since the worker was ready
 * @property {number} requests of the worker, so far
 * @property {number} rssBytes @property {number} heapTotalBytes @property {number} heapUsedBytes
 * @property {number} externalBytes Buffers and what else V8 knows of outside its heap
 * @property {number} pauseMs
 *
 * @typedef {object} Place a function
 * @property {string} name @property {string} file @property {number} line
 *
 * @typedef {object} Found
 * @property {Place} at @property {readonly Place[]} callers
 * @property {Place | null} by what has allocated for it
 * @property {boolean} isGrowing false: its memory has hardly grown in the second half
 * @property {boolean} isSure it has grown by enough, and by enough samples, to tell it from chance
 * @property {number} share of the growth, 0 to 1
 * @property {number} bytes @property {number} bytesPerRequest
 * @property {number} low of them, the 95 % interval
 * @property {number} high @property {number} samples
 * @property {readonly number[]} halves bytes
 *
 * @typedef {object} Outcome
 * @property {'grows' | 'fills' | 'outside' | 'none' | 'few' | 'unread'} verdict
 * @property {number} requests between the first reading and the last
 * @property {number} bytes that have grown in V8's heap
 * @property {number} mostPerRequest what a request may keep at the most, by the 95 % interval
 * @property {{ externalBytes: number, nativeBytes: number } | null} outside growth outside V8's heap
 * @property {readonly Found[]} found by their growth
 */

const { middleOf } = require('./growth')
/** @import { Growth, Row } from './growth' */

const LEAST_REQUESTS = 100
const LEAST_BYTES = 256 * 1024 // what V8, Node.js and recycle themselves keep varies by less
const LEAST_SAMPLES = 8
const LEAST_IN_HALF = 3
const LEAST_SHARE = 0.02
const SLOWED = 0.25 // of the growth a request in the first half, and less
const LEAST_EXTERNAL = 2 * 1024 ** 2
const LEAST_NATIVE = 16 * 1024 ** 2

/** @param {{ readings: readonly Usage[], growth: Growth | null }} study @returns {Outcome} */
function judge ({ readings, growth }) {
  const [first, last] = [readings[0], readings[readings.length - 1]]
  const nothing = { requests: 0, bytes: 0, mostPerRequest: 0, outside: null, found: [] }
  if (readings.length < 2 || growth === null) return { ...nothing, verdict: 'unread' }
  const requests = last.requests - first.requests
  const outside = outsideOf(readings)
  if (requests < LEAST_REQUESTS) return { ...nothing, verdict: 'few', requests, outside }
  const at = middleOf(readings.map(usage => usage.requests))
  const middle = at === null ? null : readings[at]
  const perHalf = middle === null ? [] : [middle.requests - first.requests, last.requests - middle.requests]
  const grown = growth.rows.reduce((sum, { bytes }) => sum + bytes, 0)
  const found = growth.rows.map(row => describe(row, { grown, requests, perHalf }))
  const sure = found.filter(({ isSure }) => isSure)
  const verdict = sure.some(({ isGrowing }) => isGrowing)
    ? 'grows'
    : outside !== null ? 'outside' : sure.length > 0 ? 'fills' : 'none'
  return {
    verdict,
    requests,
    bytes: Math.round(growth.total.bytes),
    mostPerRequest: Math.max(LEAST_BYTES, growth.total.high) / requests,
    outside,
    found
  }
}

/** @param {Row} row @param {{ grown: number, requests: number, perHalf: number[] }} of @returns {Found} */
function describe ({ at, callers, by, bytes, low, high, samples, halves }, { grown, requests, perHalf }) {
  const rates = halves.map((half, i) => half.bytes / Math.max(1, perHalf[i]))
  const isGrowing = halves.length < 2 ||
    (halves.every(({ samples }) => samples >= LEAST_IN_HALF) && halves[1].low > 0 && rates[1] > SLOWED * rates[0])
  const share = bytes / grown
  return {
    at: place(at),
    callers: callers.map(place),
    by: by && place(by),
    isGrowing,
    isSure: low > 0 && bytes >= LEAST_BYTES && samples >= LEAST_SAMPLES && share >= LEAST_SHARE,
    share,
    bytes: Math.round(bytes),
    bytesPerRequest: bytes / requests,
    low: Math.max(0, low) / requests,
    high: high / requests,
    samples,
    halves: halves.map(half => Math.round(half.bytes))
  }
}

/** @param {Place} frame @returns {Place} */
const place = ({ name, file, line }) => ({ name, file, line })

/** @param {readonly Usage[]} readings @returns {Outcome['outside']} null: V8's heap has most of the growth */
function outsideOf (readings) {
  const parts = readings.map(({ rssBytes, heapTotalBytes: heap, externalBytes: external }) => ({
    external, native: rssBytes - heap - external, heap
  }))
  const rise = (/** @type {'external' | 'native' | 'heap'} */ part, /** @type {number} */ least) => {
    const values = parts.map(usage => usage[part])
    const all = values[values.length - 1] - values[0]
    const late = values[values.length - 1] - values[values.length >> 1]
    return all >= least && (values.length < 3 || late >= SLOWED * all / 2) ? all : 0
  }
  const [externalBytes, nativeBytes] = [rise('external', LEAST_EXTERNAL), rise('native', LEAST_NATIVE)]
  return externalBytes + nativeBytes > 0 && externalBytes + nativeBytes >= SLOWED * Math.max(0, rise('heap', 0))
    ? { externalBytes, nativeBytes }
    : null
}

/** @param {Outcome} outcome @returns {Found | null} the function that leaks most */
function worst ({ verdict, found }) {
  return verdict === 'grows' ? found.find(({ isSure, isGrowing }) => isSure && isGrowing) ?? null : null
}

module.exports = { judge, worst, LEAST_REQUESTS }
