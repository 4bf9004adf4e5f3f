'use strict'

/**
 * The report as a self-contained page: it opens from a disk without network access, and its content security policy
 * forbids foreign scripts.
 */

const path = require('node:path')
const { version } = require('../../../../package.json')
const { renderDocument } = require('./document')

/** @param {import('..').Report} report @param {import('../figures').Series} series @returns {string} HTML */
function renderPage (report, series) {
  return renderDocument({
    title: 'recycle report',
    main: path.join(__dirname, 'browser', 'main.cjs'),
    data: { version, report, series },
    without: 'This report needs JavaScript, which is disabled.'
  }).html
}

module.exports = { renderPage }
