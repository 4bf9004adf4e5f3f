'use strict'

/** Compiled code on disk: read while the app loads, written once it has. */

/**
 * @typedef {{ enableCompileCache?: (folder: string) => unknown, flushCompileCache?: () => void }} CompileCache from
 *   Node 22.10 on
 */
const { saveOwnCode } = require('../../native/own-code')

const module_ = /** @type {CompileCache} */ (/** @type {unknown} */ (require('node:module')))

let isOn = false

/**
 * For this process alone: an environment variable would be inherited by the app's children. A cache that the app or its
 * environment has configured or disabled (NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE) takes precedence.
 * @param {string | null} folder null: none
 */
function enableCompileCache (folder) {
  if (folder === null || !module_.enableCompileCache || process.env.NODE_COMPILE_CACHE) return
  module_.enableCompileCache(folder)
  isOn = true
}

/** Node writes at exit, which does not happen in a worker that a signal ends. Entries that are on disk cost nothing. */
function flushCompileCache () {
  saveOwnCode()
  if (isOn) module_.flushCompileCache?.()
}

module.exports = { enableCompileCache, flushCompileCache }
