'use strict'

const path = require('node:path')
const { FIGURES } = require('../../tables/figures')
const { renderDocument } = require('../../tools/report/page/document')

/** The live page: the report of a running fleet; it reads only /events, and has the columns of the table of workers. */
function renderLivePage () {
  return renderDocument({
    title: 'recycle',
    data: FIGURES.flatMap(({ name, unit, column }) => column?.page ? [{ name, unit, title: column.page }] : []),
    main: path.join(__dirname, 'browser', 'live.cjs'),
    styles: [path.join(__dirname, 'browser', 'live.css')],
    without: 'This page needs JavaScript, which is disabled; /status has the same figures as JSON.',
    policy: ["connect-src 'self'"]
  })
}

module.exports = { renderLivePage }
