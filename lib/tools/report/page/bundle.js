'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * Bundles CommonJS modules into one script. They require each other only by relative paths that end in .cjs. The
 * extension separates modules for the browser from those for Node, and from its types.
 *
 * @param {string} main the file to begin with
 * @returns {string}
 */
function bundle (main) {
  /** By file, in the order of the first require(). @type {Map<string, string>} */
  const modules = new Map()
  const nameOf = (/** @type {string} */ file) => path.relative(path.dirname(main), file).split(path.sep).join('/')
  const add = (/** @type {string} */ file) => {
    if (modules.has(file)) return
    modules.set(file, '')
    const source = fs.readFileSync(file, 'utf8').replaceAll('\r', '').replace(/\brequire\('(\.[^']+\.cjs)'\)/g, (_, name) => {
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

module.exports = { bundle }
