'use strict'

/**
 * Finds this package's own files by the paths that they name. Node.js asks the kernel about each part of each path, and
 * about names that there are not, which is a third of what it takes to load a worker's part of the package.
 */

const fs = require('node:fs')
const Module = /** @type {any} */ (require('node:module'))
const path = require('node:path')

const LIB = path.dirname(__dirname) + path.sep // a real path: Node.js has resolved links

/**
 * The requests of other files are resolved as before.
 *
 * @returns {() => void} takes it back, unless another has put itself in its place meanwhile
 */
function findOwnFiles () {
  const { _resolveFilename: resolve } = Module
  if (typeof resolve !== 'function') return () => {}
  /** @this {any} @param {string} request @param {any} parent @param {any[]} more */
  function find (request, parent, ...more) {
    if (request.startsWith('.') && parent?.filename?.startsWith(LIB)) {
      const file = `${path.resolve(parent.path, request)}.js`
      if (file in Module._cache || fs.existsSync(file)) return file
    }
    return resolve.call(this, request, parent, ...more)
  }
  Module._resolveFilename = find
  return () => { if (Module._resolveFilename === find) Module._resolveFilename = resolve }
}

module.exports = { findOwnFiles }
