'use strict'

/**
 * Finds and reads this package's own files by the paths that they name. Node.js asks the kernel about each part of each
 * path, about names that there are not, and in each folder for a package.json, which is a third of what it takes to
 * load a worker's part of the package.
 */

const fs = require('node:fs')
const Module = /** @type {any} */ (require('node:module'))
const path = require('node:path')

const LIB = path.dirname(__dirname) + path.sep // a real path: Node.js has resolved links

/**
 * The requests of other files are resolved as before, and other files read.
 *
 * @returns {() => void} takes it back, unless another has put itself in its place meanwhile
 */
function findOwnFiles () {
  const { _resolveFilename: resolve, _extensions: extensions } = Module
  const load = extensions?.['.js']
  if (typeof resolve !== 'function' || typeof load !== 'function') return () => {}
  /** @this {any} @param {string} request @param {any} parent @param {any[]} more */
  function find (request, parent, ...more) {
    if (request.startsWith('.') && parent?.filename?.startsWith(LIB)) {
      const file = fileOf(parent.path, request)
      if (file in Module._cache || fs.existsSync(file)) return file
    }
    return resolve.call(this, request, parent, ...more)
  }
  /** @this {any} @param {any} module @param {string} file */
  function read (module, file) {
    if (file.startsWith(LIB)) module._compile(fs.readFileSync(file, 'utf8'), file, 'commonjs')
    else load.call(this, module, file)
  }
  Module._resolveFilename = find
  extensions['.js'] = read
  return () => {
    if (Module._resolveFilename === find) Module._resolveFilename = resolve
    if (extensions['.js'] === read) extensions['.js'] = load
  }
}

/** As path.resolve() does, in a tenth of its time. @param {string} folder @param {string} request `./a`, `../a` */
function fileOf (folder, request) {
  let rest = request.startsWith('./') ? request.slice(2) : request
  while (rest.startsWith('../')) {
    folder = folder.slice(0, folder.lastIndexOf(path.sep))
    rest = rest.slice(3)
  }
  return `${folder}${path.sep}${rest}.js`
}

module.exports = { findOwnFiles }
