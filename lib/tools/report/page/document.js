'use strict'

/**
 * A self-contained HTML page with its script and style, and a content security policy that forbids all others. Data is
 * embedded as JSON, and shown as text, never as markup.
 */

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

/**
 * Of all figures of a page; and a browser under LANG=C may have the language "en-US@posix", at which uPlot throws as it
 * is loaded.
 */
const LANGUAGE = "Object.defineProperty(navigator, 'language', { value: 'en-US' });"

/**
 * @param {object} what @param {string} what.title @param {string} what.main file of the script that draws the page
 * @param {string[]} [what.styles] style sheets beside the common one @param {unknown} [what.data] for the script
 * @param {boolean} [what.hasCharts] by uPlot @param {string} what.without text for browsers with scripts disabled
 * @param {string[]} [what.policy] directives in addition to script and style
 * @returns {{ html: string, policy: string }} the policy is part of the page; a server also sends it as a header
 */
function renderDocument ({ title, main, styles = [], data = null, hasCharts = true, without, policy: more = [] }) {
  const charts = hasCharts
    ? LANGUAGE + fs.readFileSync(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8').replaceAll('\r', '')
    : ''
  const script = charts + bundle(main)
  const style = [
    ...hasCharts ? [require.resolve('uplot/dist/uPlot.min.css')] : [], path.join(__dirname, 'style.css'), ...styles
  ]
    .map(file => fs.readFileSync(file, 'utf8')).join('')
  const policy = [
    "default-src 'none'", `script-src '${hash(script)}'`, `style-src '${hash(style)}'`, "base-uri 'none'",
    "form-action 'none'", ...more
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

/** JSON that is safe inside an HTML script element. @param {unknown} value */
function embed (value) {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The hash source of a content security policy. @param {string} text */
const hash = text => `sha256-${crypto.createHash('sha256').update(text).digest('base64')}`

/**
 * Bundles CommonJS modules into one script. They require each other only by relative paths that end in .cjs. The
 * extension separates modules for the browser from those for Node, and from its types.
 * @param {string} main the file to begin with @returns {string}
 */
function bundle (main) {
  /** By file, in the order of the first require(). @type {Map<string, string>} */
  const modules = new Map()
  const nameOf = (/** @type {string} */ file) => path.relative(path.dirname(main), file).split(path.sep).join('/')
  const add = (/** @type {string} */ file) => {
    if (modules.has(file)) return
    modules.set(file, '')
    const text = fs.readFileSync(file, 'utf8').replaceAll('\r', '')
    const source = text.replace(/\brequire\('(\.[^']+\.cjs)'\)/g, (_, name) => {
      const target = path.resolve(path.dirname(file), name)
      add(target)
      return `require(${JSON.stringify(nameOf(target))})`
    })
    modules.set(file, `${JSON.stringify(nameOf(file))}: function (module, exports, require) {\n${source}}`)
  }
  add(main)
  return `
;(function () {
var modules = {
${[...modules.values()].join(',\n')}
}
var loaded = {}
function require (name) {
  if (!loaded[name]) {
    loaded[name] = { exports: {} }
    modules[name](loaded[name], loaded[name].exports, require)
  }
  return loaded[name].exports
}
require(${JSON.stringify(nameOf(main))})
})()
`
}

module.exports = { renderDocument }
