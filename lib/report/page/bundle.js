'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * One script out of a folder of CommonJS modules, which require each other by `./name.cjs` and nothing else. They run in
 * a browser; that they are named .cjs keeps them apart from what runs in Node, and from its types.
 *
 * @param {string} folder
 * @param {string} main the module to begin with, as the others would require it
 * @returns {string}
 */
function bundle (folder, main) {
  const modules = fs.readdirSync(folder).sort().filter(name => name.endsWith('.cjs')).map(name => {
    const source = fs.readFileSync(path.join(folder, name), 'utf8').replaceAll('\r', '')
    return `${JSON.stringify(`./${name}`)}: function (module, exports, require) {\n${source}}`
  })
  return `
;(function () {
var modules = {
${modules.join(',\n')}
}
var loaded = {}
function require (name) {
  if (!loaded[name]) {
    loaded[name] = { exports: {} }
    modules[name](loaded[name], loaded[name].exports, require)
  }
  return loaded[name].exports
}
require(${JSON.stringify(main)})
})()
`
}

module.exports = { bundle }
