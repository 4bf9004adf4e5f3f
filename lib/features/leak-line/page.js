'use strict'

/** The result of a study as a page of its own: its sentences, a flame graph of what has grown, and a table. */

const path = require('node:path')
const { renderDocument } = require('../../tools/report/page/document')
const { sentencesOf, size } = require('./sentence')
const { sayFile, sayPlace } = require('./place')
/** @import { Branch } from './growth' */

/** @param {import('./study').Result} result @returns {string} HTML */
function renderPage ({ outcome, growth, why, tookMs, slot, pid }) {
  const folder = path.resolve()
  const rows = outcome.found.map(({
    at, callers, by, share, isSure, isGrowing, bytesPerRequest, low, high, samples
  }) => ({
    cells: [
      `${Math.round(100 * share)} %`, size(bytesPerRequest), `${size(low)} to ${size(high)}`, `${samples}`,
      sayPlace(at, folder), callers.map(caller => sayPlace(caller, folder)).join(' ← '), by ? sayPlace(by, folder) : ''
    ],
    isSure,
    isGrowing
  }))
  return renderDocument({
    title: 'recycle leak',
    main: path.join(__dirname, 'browser', 'flame.cjs'),
    styles: [path.join(__dirname, 'browser', 'flame.css')],
    hasCharts: false,
    data: {
      about: `slot ${slot} (${pid})`,
      sentences: sentencesOf({ ...outcome, why, tookMs }, folder),
      tree: (growth?.tree ?? []).map(branch => shorten(branch, folder)),
      rows
    },
    without: 'This page needs JavaScript, which is disabled.'
  }).html
}

/** @param {Branch} branch @param {string} folder @returns {object} */
function shorten ({ name, file, line, kind, bytes, children }, folder) {
  return {
    name: name || '(anonymous)', at: sayFile({ file, line }, folder), kind, bytes,
    children: children.map(child => shorten(child, folder))
  }
}

module.exports = { renderPage }
