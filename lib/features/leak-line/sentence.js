'use strict'

/** The outcome of a study, in sentences. */

const { LEAST_REQUESTS, worst } = require('./outcome')
const { sayPlace } = require('./place')
const { count, formatSize, formatTime } = require('../../core/units')
/** @import { LeakStudies } from './primary' */
/** @import { Found, Outcome } from './outcome' */
/** @import { Live } from '../../operate/admin/picture' */

const size = (/** @type {number} */ bytes) => formatSize(bytes < 10 ? Math.round(bytes * 10) / 10 : Math.round(bytes))

/**
 * @param {Outcome & { why: string | null, tookMs: number }} outcome @param {string} [folder] for the paths
 * @returns {string[]}
 */
function sentencesOf (outcome, folder = '') {
  const { verdict, requests, outside, why, tookMs } = outcome
  return [
    ...why === null ? [] : [`the study ended after ${formatTime(tookMs)}: ${why}`],
    ...sayVerdict(outcome, folder),
    ...outside === null ? [] : [sayOutside(outside, requests)],
    ...verdict === 'grows' || verdict === 'fills' ? sayFilling(outcome, folder) : []
  ]
}

/** @param {Outcome} outcome @param {string} folder @returns {string[]} */
function sayVerdict (outcome, folder) {
  const { verdict, requests, mostPerRequest } = outcome
  switch (verdict) {
    case 'grows': {
      const { at, share, bytesPerRequest, low, high, halves } =
        /** @type {Found} */ (worst(outcome))
      return [
        `${sayPlace(at, folder)} leaks: it keeps ${size(bytesPerRequest)} of each request (${size(low)} ` +
          `to ${size(high)}), ${Math.round(100 * share)} % of the growth in ${count(requests, 'request')}`,
        ...halves.length === 0
          ? ['no reading in between has divided the requests: a cache that fills up would look the same']
          : []
      ]
    }
    case 'fills':
    case 'none':
      return [`no leak was found in ${count(requests, 'request')}: one of more than ${size(mostPerRequest)} ` +
        'a request would have been']
    case 'outside':
      return [`no leak was found in V8's heap in ${count(requests, 'request')}`]
    case 'few':
      return [`${count(requests, 'request')} between the first reading and the last are too few to say: ` +
        `at least ${LEAST_REQUESTS}`]
    default:
      return ['there are not two readings, so nothing can be said; shorten --for, or raise the budget of the workers']
  }
}

/** @param {NonNullable<Outcome['outside']>} outside @param {number} requests */
function sayOutside ({ externalBytes, nativeBytes }, requests) {
  const parts = [
    ...externalBytes > 0 ? [`${size(externalBytes)} in Buffers and other memory that V8 knows of`] : [],
    ...nativeBytes > 0
      ? [`${size(nativeBytes)} in memory that V8 knows nothing of (native code, threads, ` +
        'or fragments of the allocator)']
      : []
  ]
  return `growth outside V8's heap: ${parts.join(', ')}, ` +
    `${size((externalBytes + nativeBytes) / Math.max(1, requests))} a request; ` +
    'its lines are those of the objects that hold it'
}

/** @param {Outcome} outcome @param {string} folder @returns {string[]} */
function sayFilling ({ found }, folder) {
  const filling = found.filter(({ isSure, isGrowing }) => isSure && !isGrowing)
  return filling.slice(0, 3).map(({ at, halves: [first, second] }) => `${sayPlace(at, folder)} grew ` +
    `by ${size(first)} in the first half and by ${size(Math.max(0, second))} in the second: a cache that fills up`)
}

/** @param {import('../../lines').JournalLine<'leak.end'>} line @param {import('..').Format} format */
function sentenceOf (line, { worker }) {
  return `${worker(line)} is not under study any more: ${sentencesOf(line).join('; ')}`
}

/** @typedef {ReturnType<LeakStudies['describe']>} About of status() */

/** For `recycle top` and the live page. @param {About} about @returns {Live | null} */
function live ({ study, latest }) {
  if (study === null && latest === null) return null
  const now = study === null ? [] : [`slot ${study.slot} is under study: ${sayProgress(study)}`]
  return {
    title: 'The line that leaks',
    text: [...now, ...latest === null ? [] : sentencesOf(latest)].join('; '),
    isBad: latest?.verdict === 'grows',
    rows: []
  }
}

/** A study that began by itself waits for its requests. @param {NonNullable<About['study']>} study */
function sayProgress ({ sinceMs, forMs, requests }) {
  const time = sinceMs > forMs
    ? `${formatTime(sinceMs)}, until it has had enough requests`
    : `${formatTime(sinceMs)} of ${formatTime(forMs)}`
  return `${time}, ${count(requests, 'request')}`
}

/** @param {About} about @param {ReturnType<typeof import('../../journal/painter').painter>} paint */
function statusLines ({ study, latest }, paint) {
  return [
    ...study
      ? [paint('yellow', `slot ${study.slot} (${study.pid ?? '–'}) is under study for leaks: ${sayProgress(study)}`)]
      : [],
    ...latest
      ? [paint(latest.verdict === 'grows' ? 'yellow' : 'dim',
        `the last study of leaks: ${sentencesOf(latest)[0]}`)]
      : []
  ]
}

module.exports = { sentencesOf, sentenceOf, statusLines, live, size }
