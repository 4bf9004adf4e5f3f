'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * One script out of CommonJS modules, which require each other by relative paths that end in .cjs and nothing else. They
 * run in a browser; that they are named .cjs keeps them apart from what runs in Node, and from its types.
 *
 * @param {string} main the file to begin with
 * @returns {string}
 */
function bundle (main) {
  /** By file, in the order in which they are met. @type {Map<string, string>} */
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
