'use strict'

const path = require('node:path')
const { renderDocument } = require('../../report/page/document')

/** The live page: the report's picture of a fleet that runs; it reads /events and nothing else. */
function renderLivePage () {
  return renderDocument({
    title: 'recycle',
    main: path.join(__dirname, 'browser', 'live.cjs'),
    styles: [path.join(__dirname, 'browser', 'live.css')],
    without: 'This page draws itself with JavaScript, which is turned off here; /status has the same as JSON.',
    policy: ["connect-src 'self'"]
  })
}

module.exports = { renderLivePage }
