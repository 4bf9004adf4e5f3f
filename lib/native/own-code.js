'use strict'

/**
 * Loads this package's own files, of which a worker has about a hundred, and the packages that each start needs.
 * Node.js asks the kernel about each part of each path and about names that there are not, and compiles each file anew
 * in every process: more than half of the time that it takes. Here files are found by the paths that they name,
 * packages where Node.js has found them before, and their sources and compiled code in one file, their pack, in the
 * folder of the compile cache.
 *
 * An entry of the pack counts while its file on disk has the same size and time of change. What is loaded is in
 * Node's own table of modules: its require() finds the same instances.
 */

const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const v8 = require('node:v8')
const vm = require('node:vm')
const { attempt } = require('../core/attempt')

const LIB = path.dirname(__dirname) // a real path: Node.js has resolved links
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'].map(s => Buffer.from(s))

/** @type {import('./pack').Pack | null} */
let pack = null
let tag = 0 // of this V8 with its flags: it refuses code that has another
/** Packages that load here as by Node's require(): CommonJS that requires Node's own modules and its siblings alone. */
const PACKED = new Set(['bytes', 'commander', 'ms'])
/**
 * Files that the pack is to get; for a package.json the path of what its package exports.
 * @type {Map<string, import('./pack').Key & { source: Buffer, script?: vm.Script }>}
 */
const lacking = new Map()

/**
 * From now on files come from a pack, as far as that has them.
 *
 * @param {'worker' | 'primary'} kind of process: each has a pack of its own
 * @param {string | null} cache folder of the compile cache; null: there is no pack
 */
function openPack (kind, cache) {
  if (cache === null) return
  const { Pack, isPossible } = require('./pack') // the shortest commands have none
  if (!isPossible) return
  tag = v8.cachedDataVersionTag()
  pack = new Pack(path.join(cache, `${kind}-${tag.toString(16)}-${fs.statSync(LIB).ino}`))
}

/**
 * @param {string} folder of the file that requires
 * @returns {(request: string) => any} its require()
 */
function requireIn (folder) {
  const requireOwn = (/** @type {string} */ request) => {
    const isFile = request.startsWith('.')
    const asked = isFile ? join(folder, request) : request
    const module = isFile ? fileAt(asked) : PACKED.has(asked) ? packageOf(asked) : null
    return module ? module.exports : require(asked)
  }
  return Object.assign(requireOwn, { resolve: require.resolve, cache: require.cache })
}

/** @param {string} asked a path @returns {NodeJS.Module | null} null: Node.js is to load it */
function fileAt (asked) {
  const extension = path.extname(asked)
  if (extension === '') return moduleAt(`${asked}.js`) ?? moduleAt(`${asked}/index.js`)
  return extension === '.js' ? moduleAt(asked) : null
}

/**
 * Node.js is asked where it is once for each state of its package.json, of which the pack has the answer.
 * @param {string} name @returns {NodeJS.Module | null} as fileAt()
 */
function packageOf (name) {
  const manifest = pack === null ? null : manifestOf(name)
  if (pack === null || manifest === null) return null
  const { path: at, ...key } = manifest
  const found = pack.find(at, key)
  const file = found ? found.source.toString() : require.resolve(name)
  if (!found) lacking.set(at, { ...key, source: Buffer.from(file) })
  return fileAt(file)
}

/** @param {string} name @returns {(import('./pack').Key & { path: string }) | null} the first above lib/ */
function manifestOf (name) {
  for (let folder = path.dirname(LIB); ; folder = path.dirname(folder)) {
    const at = path.join(folder, 'node_modules', name, 'package.json')
    const stat = fs.statSync(at, { throwIfNoEntry: false })
    if (stat) return { path: at, size: stat.size, changed: stat.ctimeMs }
    if (folder === path.dirname(folder)) return null
  }
}

/** @param {string} file @returns {NodeJS.Module | null} null: there is no such file */
function moduleAt (file) {
  const known = require.cache[file]
  if (known) return known
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile()) return null
  const script = compile(file, stat)
  const folder = path.dirname(file)
  const module = require.cache[file] = Object.assign(new Module(file), { filename: file })
  try {
    script.runInThisContext().call(module.exports, module.exports, requireIn(folder), module, file, folder)
    module.loaded = true
  } finally {
    if (!module.loaded) delete require.cache[file]
  }
  return module
}

/** @param {Buffer} source @returns {Buffer} a function of Node's five variables of a module */
const wrap = source => Buffer.concat([WRAPPER[0], source, WRAPPER[1]])

/** @param {string} file @param {fs.Stats} stat @returns {vm.Script} */
function compile (file, { size, ctimeMs: changed }) {
  const found = pack?.find(file, { size, changed }) ?? null
  const source = found?.source ?? wrap(fs.readFileSync(file))
  const script = new vm.Script(source.toString(), { filename: file, cachedData: found?.code ?? undefined })
  const isNew = !found?.code || script.cachedDataRejected
  if (isNew && pack !== null) lacking.set(file, { size, changed, source: Buffer.from(source), script })
  return script
}

/** As path.resolve() does, in a tenth of its time. @param {string} folder @param {string} request `./a`, `../a` */
function join (folder, request) {
  let rest = request.startsWith('./') ? request.slice(2) : request
  while (rest.startsWith('../')) {
    folder = folder.slice(0, folder.lastIndexOf(path.sep))
    rest = rest.slice(3)
  }
  return `${folder}${path.sep}${rest}`
}

/**
 * Once this process has booted: the pack gets what it lacks, with the functions that have been called until now, and is
 * closed. That takes about 20 ms, once for a version of this package and of Node.js.
 * @param {boolean} [isKept] false: nothing is written (`--no-compile-cache`)
 */
function saveOwnCode (isKept = true) {
  const to = pack
  if (to === null) return
  pack = null
  if (isKept && lacking.size > 0 && v8.cachedDataVersionTag() === tag) {
    const files = new Map([...lacking].map(([file, { script, ...rest }]) =>
      [file, { ...rest, code: script?.createCachedData() ?? null }]))
    attempt(() => to.replace(files), null) // another process does so, or the disk is full
  }
  to.close()
  lacking.clear()
}

module.exports = { requireIn, openPack, saveOwnCode }
