'use strict'

/** A comparison in words: for the log, the command and `recycle status`. */

const { layOut } = require('../../core/grid')
const { FIGURES } = require('./figures')
const { count, formatSize, formatTime, grouped } = require('../../core/units')
/** @import { Live } from '../../operate/admin/picture' */
/** @import { Described } from './primary' */
/** @import { Figure, Verdict } from './verdict' */

/** @typedef {'old' | 'fresh'} Side */

/** @type {Record<string, string>} */
const STATES = {
  waiting: 'a reload is under way; when that has ended, new code is tried',
  starting: 'workers of the new code start',
  'warming-up': 'the new code warms up',
  comparing: 'the new code is compared',
  promoting: 'the new code is as good: the reload goes on',
  leaving: 'the new code leaves'
}

/** @param {Described | null | undefined} status @returns {string | null} for the command that waits */
function sayProgress (status) {
  if (!status || !Object.hasOwn(STATES, status.state)) return null
  const left = status.leftMs === null ? '' : `, ${formatTime(1000 * Math.ceil(status.leftMs / 1000))} left`
  const counted = status.leftMs === null
    ? ''
    : `; ${count(status.requests.fresh, 'request')}, and ${grouped(status.requests.old)} of the code before`
  return `${STATES[status.state]}${left}${counted}`
}

/** @param {{ isGood: boolean, verdict: string | null, why: string, bakeMs: number }} line `canary.verdict` */
function sayVerdict ({ isGood, verdict, why, bakeMs }) {
  if (verdict === 'undecided') {
    return `whether the new code is as good is not known after ${formatTime(bakeMs)}: ${why}; ` +
      `${isGood ? 'the reload goes on, as --undecided go has it' : 'it is taken back'}`
  }
  if (verdict === 'good') return `the new code is as good: ${why}`
  return verdict === 'bad'
    ? `the new code is worse: ${why}`
    : `the new code ${isGood ? 'goes to all workers' : 'leaves'}: ${why}`
}

/**
 * @param {Described | null | undefined} status
 * @returns {(Record<'errors' | 'p50' | 'p99' | 'rssBytes', number | null> & { labels: { generation: string,
 *   code: 'before' | 'new' }, requests: number })[]} the code before, and the new one; none: none is compared
 */
function sides (status) {
  if (!status || status.leftMs === null) return []
  const { generation, before, requests, rssBytes, figures } = status
  const of = (/** @type {string} */ name, /** @type {Side} */ side) =>
    figures.find(figure => figure.name === name)?.[side] ?? null
  const sideOf = (/** @type {Side} */ side) => ({
    requests: requests[side], errors: of('errors', side), p50: of('p50', side), p99: of('p99', side),
    rssBytes: rssBytes[side]
  })
  return [
    { labels: { generation: String(before), code: 'before' }, ...sideOf('old') },
    { labels: { generation: String(generation), code: 'new' }, ...sideOf('fresh') }
  ]
}

/** The deciding figure. @param {import('./bake').Verdict} verdict @returns {string} */
const sayWhy = ({ sentence, ...verdict }) => sentence ?? sentenceOf(verdict)

/** @param {Described | null | undefined} status @returns {Live | null} null: the latest reload was good, or none was */
function compared (status) {
  if (!status || status.state === 'promoted') return null
  const { generation, why, isReplaced, requests, rssBytes, figures } = status
  const isOver = status.state === 'rejected'
  const warning = isReplaced
    ? '; the code on the disk is what was taken back: a worker that is replaced runs it, ' +
      'so put the code before back, and reload'
    : ''
  const memory = (/** @type {Side} */ side) => rssBytes[side] === null ? '–' : formatSize(rssBytes[side])
  return {
    title: isOver
      ? `The latest reload was taken back (generation ${generation})`
      : generation < 0 ? 'New code' : `Generation ${generation} beside ${status.before}`,
    text: isOver ? `${why}${warning}` : String(sayProgress(status)),
    isBad: isOver,
    rows: figures.length === 0
      ? []
      : [
          { label: 'requests', old: grouped(requests.old), fresh: grouped(requests.fresh), isWorse: false },
          { label: 'memory of a worker', old: memory('old'), fresh: memory('fresh'), isWorse: false },
          ...rowsOf(figures)
        ]
  }
}

/** @param {Figure[]} figures @returns {Live['rows']} */
function rowsOf (figures) {
  return figures.map(figure => ({
    label: titleOf(figure.name), old: valueOf(figure, 'old'), fresh: valueOf(figure, 'fresh'), isWorse: figure.isWorse
  }))
}

/**
 * @param {Described} status @param {(style: 'red' | 'yellow' | 'green' | 'dim' | 'bold', text: string) => string} paint
 * @returns {string[]}
 */
function linesOf (status, paint) {
  const about = compared(status)
  if (about === null) return [paint('dim', `the latest reload (generation ${status.generation}): ${status.why}`)]
  const heading = paint(about.isBad ? 'red' : 'bold', `${about.title}: ${about.text}`)
  if (about.rows.length === 0) return [heading]
  const [titles, ...lines] =
    layOut(['<', 'before', 'new'], about.rows.map(({ label, old, fresh }) => [label, old, fresh]), Infinity)
  const rows = lines.map((line, i) => about.rows[i].isWorse ? paint('red', line) : line)
  return [heading, paint('dim', titles), ...rows]
}

/** @param {Verdict} verdict @returns {string} one sentence, with the two figures that decided */
function sentenceOf ({ verdict, decidedBy, requests, leastRequests, figures }) {
  const both = `${grouped(requests.fresh)} requests of the new code and ${grouped(requests.old)} of the old`
  if (verdict === 'undecided') {
    return `too few requests to judge: ${both}; ${grouped(leastRequests)} of each are needed${crashesOf(figures)}`
  }
  const figure = figures.find(({ name }) => name === decidedBy)
  if (!figure) return verdict === 'good' ? `no figure is worse: ${both}` : `no figure is worse so far: ${both}`
  const word = figure.unit === 'share' ? 'of' : 'over'
  return `${titleOf(figure.name)}: ${valueOf(figure, 'fresh')} ${word} ${grouped(requests.fresh)} requests, ` +
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
const titleOf = name => FIGURES.find(row => row.name === name)?.title ?? name

module.exports = { sentenceOf, valueOf, sayProgress, sayVerdict, sayWhy, sides, compared, rowsOf, linesOf }
