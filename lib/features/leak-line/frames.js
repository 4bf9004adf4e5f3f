'use strict'

/**
 * Frames of a stack, and which of them a leak is said to be at: the innermost one of the app's own code. What a package
 * or Node.js allocates counts for the function of the app that has called it.
 *
 * @typedef {'app' | 'package' | 'node' | 'generated'} Kind generated: code that a compiler has added, which no source
 *   has
 *
 * @typedef {object} Frame
 * @property {string} name of the function; '': it has none
 * @property {string} file a path, node:…, or '' where V8 itself allocates
 * @property {number} line where the function begins, from 1; 0: not known
 * @property {number} column from 1; 0: not known
 * @property {Kind} kind
 */

const { fileURLToPath } = require('node:url')
const { attempt } = require('../../core/attempt')

const PACKAGES = '/node_modules/'

/** @param {string} url of a script, as V8 has it @returns {string} its path, where it is a file */
function fileOf (url) {
  if (!url.startsWith('file://')) return url
  return attempt(() => fileURLToPath(url), url)
}

/**
 * @param {string} file
 * @param {{ app: string, own: string }} at `app`: the file of the app, which may lie in a package itself; `own`: the
 *   folder of recycle's code
 * @returns {Kind}
 */
function kindOf (file, { app, own }) {
  if (!file.startsWith('/')) return 'node'
  if (file.startsWith(own)) return 'package'
  const rest = file.startsWith(packageOf(app)) ? file.slice(packageOf(app).length - 1) : file
  return rest.includes(PACKAGES) ? 'package' : 'app'
}

/** @param {string} file @returns {string} the folder of the package that it lies in; '/': in none */
function packageOf (file) {
  const [found = '/'] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file) ?? []
  return found
}

/**
 * @param {readonly Frame[]} stack from the outermost frame inwards @param {boolean} [isWhole] nothing is folded
 * @returns {{ at: number, callers: number[], by: number | null } | null} indexes: the frame that is named, up to two
 *   above it, and the package's or Node.js's that has allocated for it; null: no frame is known
 */
function fold (stack, isWhole = false) {
  const known = stack.flatMap(({ kind }, i) => kind === 'generated' ? [] : [i])
  const last = (/** @type {(frame: Frame) => boolean} */ is) => known.findLast(i => is(stack[i]))
  const at = (isWhole ? undefined : last(({ kind }) => kind === 'app') ?? last(({ kind }) => kind === 'package')) ??
    known.at(-1)
  if (at === undefined) return null
  const isShown = (/** @type {number} */ i) => isWhole || stack[i].kind === 'app'
  const callers = known.filter(i => i < at && isShown(i)).slice(-2).reverse()
  const below = known.filter(i => i > at)
  const by = below.findLast(i => stack[i].kind === 'package') ?? below[0] ?? null
  return { at, callers, by }
}

module.exports = { fileOf, kindOf, fold }
