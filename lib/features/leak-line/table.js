'use strict'

/** The result of a study in the terminal. */

const path = require('node:path')
const { sayFile, sayPlace } = require('./place')
const { sentencesOf, size } = require('./sentence')
const { count, formatTime } = require('../../core/units')
const { layOut } = require('../../core/grid')
/** @import { Found } from './outcome' */

const MOST = 10

/** @param {import('./study').Result} result @param {{ width: number, folder: string }} how `folder`: of its paths */
function linesOf (result, { width, folder }) {
  const { outcome, readings, tookMs } = result
  const shown = outcome.found.filter(({ isSure }) => isSure).slice(0, MOST)
  const left = outcome.found.length - shown.length
  return [
    ...sentencesOf({ ...outcome, why: result.why, tookMs }, folder),
    ...shown.length > 0 ? ['', ...rows(shown, width, folder)] : [],
    ...left > 0 && outcome.verdict !== 'few'
      ? ['', `${count(left, 'more function')} with too few samples, too little growth, or beyond the first ${MOST}`]
      : [],
    ...readings.length > 0
      ? ['', `${count(readings.length, 'reading')} in ${formatTime(tookMs)}, out of rotation ` +
        `for ${readings.map(({ pauseMs }) => `${pauseMs}ms`).join(', ')} each`]
      : []
  ]
}

/** @param {Found[]} found @param {number} width @param {string} folder @returns {string[]} */
function rows (found, width, folder) {
  const columns = ['growth', 'a request', '95 % interval', 'halves', 'function<', 'where<']
  const cells = found.map(({ at, share, bytesPerRequest, low, high, halves }) => [
    `${Math.round(100 * share)} %`, size(bytesPerRequest), `${size(low)} to ${size(high)}`,
    halves.length === 0 ? '–' : halves.map(bytes => size(Math.max(0, bytes))).join(' + '),
    at.name || '(anonymous)', sayFile(at, folder)
  ])
  const [heading, ...lines] = layOut(columns, cells, width)
  const indent = ' '.repeat(heading.indexOf('function'))
  return [heading, ...lines.flatMap((line, i) => {
    const { callers, by, at } = found[i]
    const calls = callers.filter(caller => sayPlace(caller) !== sayPlace(at))
    return [
      line,
      ...calls.length > 0 ? [`${indent}called by ${calls.map(caller => sayPlace(caller, folder)).join(', by ')}`] : [],
      ...by === null ? [] : [`${indent}allocates in ${by.name || '(anonymous)'} ${shortFile(by)}`]
    ]
  })]
}

/** @param {{ file: string, line: number }} place @returns {string} of a package from its name on */
function shortFile ({ file, line }) {
  const at = file.lastIndexOf('/node_modules/')
  if (at !== -1) return `${file.slice(at + '/node_modules/'.length)}:${line}`
  return `${file.startsWith('/') ? path.basename(file) : file || '(V8)'}:${line}`
}

module.exports = { linesOf }
