'use strict'

/** The house as design says it is: imports point down only, and never in a circle. */

const fs = require('node:fs')
const { isBuiltin } = require('node:module')
const path = require('node:path')
const t = require('tap')

const ROOT = path.join(__dirname, '..')

/** Each room and the rooms that it may import from, itself included; the floors of the house from the top down. */
const MAY_IMPORT = {
  bin: ['cli'],
  cli: ['cli', 'index', 'operate', 'drill', 'report', 'primary', 'control', 'journal', 'core'],
  index: ['operate', 'drill', 'report', 'primary', 'journal', 'core'],
  operate: ['operate', 'report', 'control', 'journal', 'core'],
  drill: ['drill', 'report', 'primary', 'control', 'journal', 'core'],
  report: ['report', 'journal', 'core'],
  primary: ['primary', 'mold', 'journal', 'core'],
  control: ['control', 'core'],
  journal: ['journal', 'core'],
  worker: ['worker', 'mold', 'core'],
  mold: ['mold', 'core'],
  core: ['core']
}

const files = [...sources('lib'), ...sources('bin')]
const edges = new Map(files.map(file => [file, importsOf(file)]))

/** @param {string} folder @returns {string[]} relative to the root, as all paths here */
function sources (folder) {
  return fs.readdirSync(path.join(ROOT, folder), { recursive: true })
    .map(file => path.join(folder, String(file)))
    .filter(file => file.endsWith('.js'))
}

/** @param {string} file */
function code (file) {
  return fs.readFileSync(path.join(ROOT, file), 'utf8').replace(/\/\*[^]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
}

/** Types that are named in comments are no imports: nothing is loaded for them. @param {string} file @returns {string[]} files, and packages by name */
function importsOf (file) {
  return [...code(file).matchAll(/\b(?:require|import)\(\s*(['"])(.+?)\1\s*\)/g)].map(([, , name]) =>
    name.startsWith('.')
      ? resolve(path.join(path.dirname(file), name))
      : name)
}

/** @param {string} target as it is written, from the root @returns {string} the file; what is missing stays as it is written */
function resolve (target) {
  const candidates = [target, `${target}.js`, path.join(target, 'index.js')]
  return candidates.find(file => fs.statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.isFile()) ?? `${target}.js`
}

/** @param {string} file */
function isOurs (file) {
  return !isBuiltin(file) && file.endsWith('.js')
}

/** @param {string} file @returns {string} */
function roomOf (file) {
  const [top, second] = file.split(path.sep)
  return top === 'lib' ? second.replace(/\.js$/, '') : top
}

t.test('the edges are read at all', async t => {
  t.ok(files.length > 30)
  t.ok(edges.get('lib/core/verdict.js')?.includes('lib/core/sample.js'))
  t.ok(edges.get('lib/primary/workers/spawner.js')?.includes('lib/core/budget.js'))
  t.ok(edges.get('lib/core/units.js')?.includes('bytes'))
})

t.test('whatever is imported is there', async t => {
  const missing = files.flatMap(file => /** @type {string[]} */ (edges.get(file))
    .filter(target => isOurs(target) && !fs.existsSync(path.join(ROOT, target)))
    .map(target => `${file} → ${target}`))
  t.same(missing, [])
})

t.test('every room has its floor', async t => {
  t.same([...new Set(files.map(roomOf))].filter(room => !Object.hasOwn(MAY_IMPORT, room)), [])
})

t.test('imports point down', async t => {
  const upward = files.flatMap(file => /** @type {string[]} */ (edges.get(file))
    .filter(isOurs)
    .filter(target => !(MAY_IMPORT)[roomOf(file)]?.includes(roomOf(target)))
    .map(target => `${file} → ${target}`))
  t.same(upward, [])
})

t.test('imports make no circle', async t => {
  /** @type {Set<string>} */
  const done = new Set()
  /** @type {string[]} */
  const circles = []
  const visit = (/** @type {string} */ file, /** @type {string[]} */ way) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '))
    if (way.includes(file) || done.has(file)) return
    for (const target of (edges.get(file) ?? []).filter(isOurs)) visit(target, [...way, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  t.same(circles, [])
})

t.test('what is injected into the app brings no package with it', async t => {
  /** @type {Set<string>} */
  const loaded = new Set()
  const load = (/** @type {string} */ target) => {
    if (loaded.has(target)) return
    loaded.add(target)
    for (const next of edges.get(target) ?? []) load(next)
  }
  load('lib/worker/preload.js')
  load('lib/worker/index.js')
  t.ok(loaded.size > 10)
  t.same([...loaded].filter(target => !isOurs(target) && !target.startsWith('node:')), [])
})

t.test('core is pure: no clock, timer, fs or process', async t => {
  for (const file of files.filter(file => roomOf(file) === 'core')) {
    t.same(/** @type {string[]} */ (edges.get(file)).filter(isBuiltin), [], `${file} needs nothing of Node's`)
    const impure = code(file).replace(/'[^'\n]*'|"[^"\n]*"/g, "''").match(/\b(?:Date\.now|new Date|performance\.|Math\.random|setTimeout|setInterval|setImmediate|process\.)/g)
    t.same(impure, null, file)
  }
})
