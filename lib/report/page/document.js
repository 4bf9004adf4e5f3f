'use strict'

/**
 * A page that draws itself: one HTML text with its script, its style and a content security policy that forbids every
 * other. Data travels as JSON, and the page shows it as text, never as markup.
 */

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { bundle } = require('./bundle')

/**
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.main file of the script that draws it
 * @param {string[]} [what.styles] style sheets beside the common one
 * @param {unknown} [what.data] for the script
 * @param {string} what.without what is said where scripts are turned off
 * @param {string[]} [what.policy] what is allowed beyond script and style
 * @returns {{ html: string, policy: string }} the policy is in the page too; a server says it before
 */
function renderDocument ({ title, main, styles = [], data = null, without, policy: more = [] }) {
  const script = fs.readFileSync(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8').replaceAll('\r', '') + bundle(main)
  const style = [require.resolve('uplot/dist/uPlot.min.css'), path.join(__dirname, 'style.css'), ...styles]
    .map(file => fs.readFileSync(file, 'utf8')).join('')
  const policy = [
    "default-src 'none'", `script-src '${hash(script)}'`, `style-src '${hash(style)}'`, "base-uri 'none'", "form-action 'none'", ...more
  ].join('; ')
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main id="page"><noscript>${without}</noscript></main>
<script type="application/json" id="data">${embed(data)}</script>
<script>${script}</script>
</body>
</html>
`
  return { html, policy }
}

/** JSON that no HTML parser takes for anything else. @param {unknown} value */
function embed (value) {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** As a policy names a text. @param {string} text */
function hash (text) {
  return `sha256-${crypto.createHash('sha256').update(text).digest('base64')}`
}

module.exports = { renderDocument }
