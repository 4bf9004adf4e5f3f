'use strict'

/** Compiled code on disk: read while the app loads, written once it has. */

/** @typedef {{ enableCompileCache?: (folder: string) => unknown, flushCompileCache?: () => void }} CompileCache from Node 22.10 on */
const module_ = /** @type {CompileCache} */ (/** @type {unknown} */ (require('node:module')))

let isOn = false

/**
 * For this process alone: an environment variable would be inherited by the app's children. Where the app or its
 * environment has a cache of its own, or has switched it off (NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE), that stands.
 *
 * @param {string | null} folder null: none
 */
function enableCompileCache (folder) {
  if (folder === null || !module_.enableCompileCache || process.env.NODE_COMPILE_CACHE) return
  module_.enableCompileCache(folder)
  isOn = true
}

/** Node would write at exit, which a worker that ends by a signal never comes to. What is there already costs nothing. */
function flushCompileCache () {
  if (isOn) module_.flushCompileCache?.()
}

module.exports = { enableCompileCache, flushCompileCache }
