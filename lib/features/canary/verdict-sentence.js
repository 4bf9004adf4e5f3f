'use strict'

const { grouped, formatSize } = require('../../core/units')
/** @import { Figure, Verdict } from './verdict' */

/** A figure's name, and the word before requests. @type {Record<Figure['name'], [string, 'of' | 'over']>} */
const TITLES = {
  crashes: ['crashes', 'over'],
  exceptions: ['uncaught exceptions', 'over'],
  errors: ['responses with 5xx', 'of'],
  unfinished: ['unfinished responses', 'of'],
  refusals: ['responses with 4xx', 'of'],
  empty: ['redirects and empty responses', 'of'],
  p50: ['median time to the response', 'over'],
  p99: ['99th percentile of the time to the response', 'over'],
  loop: ['time of the event loop for a request', 'over'],
  memory: ['memory kept of a request', 'over']
}

/** @param {Verdict} verdict @returns {string} one sentence, with the two figures that decided */
function sentenceOf ({ verdict, decidedBy, requests, leastRequests, figures }) {
  const both = `${grouped(requests.fresh)} requests of the new code and ${grouped(requests.old)} of the old`
  if (verdict === 'undecided') {
    return `too few requests to judge: ${both}; ${grouped(leastRequests)} of each are needed${crashesOf(figures)}`
  }
  const figure = figures.find(({ name }) => name === decidedBy)
  if (!figure) return verdict === 'good' ? `no figure is worse: ${both}` : `no figure is worse so far: ${both}`
  const [title, word] = TITLES[figure.name]
  return `${title}: ${valueOf(figure, 'fresh')} ${word} ${grouped(requests.fresh)} requests, ` +
    `against ${valueOf(figure, 'old')} ${word} ${grouped(requests.old)} of the old workers`
}

/** Requests of the new code that were too few to decide. @param {Figure[]} figures @returns {string} empty: none */
function crashesOf (figures) {
  const count = figures.find(({ name }) => name === 'crashes')?.fresh ?? 0
  return count === 0 ? '' : `; a worker of the new code has crashed ${count === 1 ? 'once' : `${grouped(count)} times`}`
}

/** @param {Figure} figure @param {'old' | 'fresh'} side @returns {string} with its unit; "–": not known */
function valueOf (figure, side) {
  const { unit, [side]: value } = figure
  if (value === null) return '–'
  if (unit === 'count') return grouped(value)
  if (unit === 'share') return `${(100 * value).toFixed(2)} %`
  if (unit === 'bytes a request') {
    return value < 0 ? `-${formatSize(Math.round(-value))}` : formatSize(Math.round(value))
  }
  return `${value >= 99.5 ? grouped(value) : Number(value.toPrecision(2))} ms`
}

/** @param {Figure['name']} name */
const titleOf = name => TITLES[name][0]

module.exports = { TITLES, sentenceOf, valueOf, titleOf }
