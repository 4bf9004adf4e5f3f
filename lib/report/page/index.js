'use strict'

/**
 * The report as one self-contained page: it opens from a disk, asks no network, and its content security policy forbids
 * every script but its own.
 */

const path = require('node:path')
const { version } = require('../../../package.json')
const { renderDocument } = require('./document')

/**
 * @param {import('..').Report} report
 * @param {import('../figures').Series} series
 * @returns {string} HTML
 */
function renderPage (report, series) {
  return renderDocument({
    title: 'recycle report',
    main: path.join(__dirname, 'browser', 'main.cjs'),
    data: { version, report, series },
    without: 'This report draws itself with JavaScript, which is turned off here.'
  }).html
}

module.exports = { renderPage }
