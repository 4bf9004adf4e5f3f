'use strict'

/**
 * The report as one self-contained page: it opens from a disk, asks no network, and its content security policy forbids
 * every script but its own. What the journal holds travels as JSON, and the page shows it as text, never as markup.
 */

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { version } = require('../../../package.json')
const { bundle } = require('./bundle')

/**
 * @param {import('..').Report} report
 * @param {import('../figures').Series} series
 * @returns {string} HTML
 */
function renderPage (report, series) {
  const script = readScript()
  const style = readStyle()
  const policy = [
    "default-src 'none'", `script-src '${hash(script)}'`, `style-src '${hash(style)}'`, "base-uri 'none'", "form-action 'none'"
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>recycle report</title>
<style>${style}</style>
</head>
<body>
<main id="page"><noscript>This report draws itself with JavaScript, which is turned off here.</noscript></main>
<script type="application/json" id="data">${embed({ version, report, series })}</script>
<script>${script}</script>
</body>
</html>
`
}

/** JSON that no HTML parser takes for anything else. @param {unknown} value */
function embed (value) {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function readScript () {
  return fs.readFileSync(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8').replaceAll('\r', '') +
    bundle(path.join(__dirname, 'browser'), './main.cjs')
}

function readStyle () {
  return fs.readFileSync(require.resolve('uplot/dist/uPlot.min.css'), 'utf8') +
    fs.readFileSync(path.join(__dirname, 'style.css'), 'utf8')
}

/** As a policy names a text. @param {string} text */
function hash (text) {
  return `sha256-${crypto.createHash('sha256').update(text).digest('base64')}`
}

module.exports = { renderPage }
