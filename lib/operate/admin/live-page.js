'use strict'

const path = require('node:path')
const { renderDocument } = require('../../tools/report/page/document')

/** The live page: the report of a running fleet; it reads only /events. */
function renderLivePage () {
  return renderDocument({
    title: 'recycle',
    main: path.join(__dirname, 'browser', 'live.cjs'),
    styles: [path.join(__dirname, 'browser', 'live.css')],
    without: 'This page needs JavaScript, which is disabled; /status has the same figures as JSON.',
    policy: ["connect-src 'self'"]
  })
}

module.exports = { renderLivePage }
