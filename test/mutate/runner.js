'use strict'

/**
 * A process that runs test files against mutants, many in turn: to start Node.js and tap for each would take longer
 * than most tests. It is told { test, mutant }, loads the test and the sources afresh, and answers { fails, isClean }:
 * not clean, it has left handles open, and should not be used again. Nothing is written to a source.
 */

const { once } = require('node:events')
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')

const send = process.send?.bind(process)
Reflect.deleteProperty(process, 'send') // tap, too, would speak to the parent by it
const tap = require('tap')
tap.setTimeout(0) // it runs no test itself
require('fast-check').configureGlobal({ endOnFailure: true }) // which case fails is all the same

const ROOT = path.join(__dirname, '..', '..')

/** @type {any} */
let root
/** @type {any} */
let mutant

const internals = /** @type {any} */ (Module)
const { _load: load, _extensions: { '.js': compile } } = internals
internals._load = (/** @type {string} */ request, /** @type {any[]} */ ...rest) => request === 'tap' ? root : load(request, ...rest)
internals._extensions['.js'] = (/** @type {any} */ module, /** @type {string} */ filename) => {
  if (filename !== mutant?.file) return compile(module, filename)
  const source = fs.readFileSync(filename, 'utf8')
  module._compile(source.slice(0, mutant.start) + mutant.with + source.slice(mutant.end), filename)
}

/** @param {string} file */
const isOurs = file => file.startsWith(ROOT) && !file.includes('node_modules')

/** @param {any} parser of what tap says @param {() => void} failed */
function watch (parser, failed) {
  parser.on('assert', (/** @type {any} */ { ok }) => { if (!ok) failed() }).on('child', (/** @type {any} */ child) => watch(child, failed))
}

/** @param {string} test @returns {Promise<boolean>} */
async function fails (test) {
  for (const file of Object.keys(require.cache)) if (isOurs(file)) delete require.cache[file]
  root = new tap.Test({ name: path.basename(test) })
  let hasFailed = false
  watch(root.parser, () => { hasFailed = true })
  const { test: begin } = root
  root.test = (/** @type {any[]} */ ...args) => {
    const run = args.pop()
    // One failure is enough
    return begin.call(root, ...args, async (/** @type {any} */ t) => { if (!hasFailed) await run(t) })
  }
  root.resume()
  const ended = once(root, 'end')
  try {
    require(test)
  } catch {
    return true
  }
  root.end()
  await ended
  return !root.passing()
}

/** But timers, whose objects no other test has. */
function handles () {
  return process.getActiveResourcesInfo().filter(kind => kind !== 'Timeout' && kind !== 'Immediate').length
}

process.on('message', async (/** @type {any} */ asked) => {
  mutant = asked.mutant
  const before = handles()
  const answer = await fails(asked.test)
  send?.({ fails: answer, isClean: handles() <= before })
})
