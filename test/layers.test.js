'use strict'

/**
 * The layers of lib/: imports point down only, and never in a cycle; so do those between the folders of primary and
 * worker.
 */

const fs = require('node:fs')
const { isBuiltin } = require('node:module')
const path = require('node:path')
const t = require('tap')
const { BUNDLES, LONGEST, filesOf, suite, testFiles } = require('./support/bundle')
const { FEATURES } = require('../lib/features')
const { row } = require('../lib/tables/options')
const { types } = require('../lib/core/option-types')
const { KINDS } = require('../lib/operate/control-args')

const ROOT = path.join(__dirname, '..')

/** Each layer and the layers that it may import from, itself included, from the top down. */
const MAY_IMPORT = {
  bin: ['cli', 'native'],
  cli: ['cli', 'features', 'index', 'tools', 'operate', 'primary', 'control', 'journal', 'native', 'tables', 'core'],
  index: ['operate', 'primary', 'journal', 'tables', 'core', 'tools'],
  tools: ['tools', 'operate', 'primary', 'control', 'journal', 'native', 'tables', 'core', 'features'],
  operate: ['operate', 'control', 'journal', 'native', 'tables', 'core', 'features', 'tools'],
  primary: ['primary', 'native', 'journal', 'tables', 'core', 'features'],
  control: ['control', 'core'],
  journal: ['journal', 'native', 'tables', 'core', 'features'],
  worker: ['worker', 'native', 'tables', 'core', 'features'],
  native: ['native', 'core'],
  tables: ['tables', 'core', 'features'], // of the kernel's rows and of those of the features
  core: ['core'],
  features: ['features', 'core', 'native', 'tools']
}

/**
 * Each folder of a layer and the folders of this layer that it imports, no more and no fewer. `shared` are the files
 * beside the folders that any folder may import; the other files there (supervisor, preload) put the folders together.
 *
 * @type {Record<string, { folders: Record<string, string[]>, shared: string[] }>}
 */
const INSIDE = {
  primary: {
    folders: {
      measuring: [],
      workers: [],
      sockets: [],
      handoff: [],
      adoption: ['workers'],
      recycling: ['workers'], // it obtains and retires workers
      succession: ['workers'] // a channel to another primary is like one to a worker
    },
    shared: ['clock', 'inherited-descriptors', 'part'] // what a worker may listen on: by net in sockets, by cluster in workers
  },
  worker: {
    folders: {
      accepting: [],
      connections: [],
      handoff: ['connections'], // a connection travels as a parcel
      vitals: [],
      boot: [],
      websockets: [], // loaded where the app calls for them
      leaving: ['vitals'] // memory is measured, and collected, while the worker is out of rotation
    },
    shared: ['call-app'] // whatever calls the app does so by it
  }
}

/** Parts of features that call a module of a primary or a worker by its name, beside what the kernel gives them. */
const BY_NAME = [
  ...['canary/worker', 'leaks/worker', 'max-heap/worker'].map(part => `${part} → worker/vitals/gc-pauses`),
  'exceptions/worker → worker/leaving/standard-streams',
  ...['boot/compile-cache', 'channel', 'prepare', 'settings', 'vitals/memory'].map(part => `fork/original → worker/${part}`),
  'heapdump/primary → primary/recycling/private-file',
  'leak-line/worker → worker/vitals/memory',
  'max-fds/descriptors → primary/measuring/meter/in-time',
  'worker/preload → fork/original' // the process of which workers are copies
].map(edge => edge.replace(/\S+/g, name => name === '→' ? name : `${/^(?:worker|primary)\//.test(name) ? 'lib' : 'lib/features'}/${name}.js`))

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

/**
 * Types in comments do not count: they load nothing.
 *
 * @param {string} file
 * @returns {string[]} files, and packages by name
 */
function importsOf (file) {
  return [...code(file).matchAll(/\b(?:require(?:Own)?|import)\(\s*(['"])(.+?)\1\s*\)/g)].map(([, , name]) =>
    name.startsWith('.')
      ? resolve(path.join(path.dirname(file), name))
      : name)
}

/** @param {string} target as written, from the root @returns {string} the file; a missing one is returned as written */
function resolve (target) {
  const candidates = [target, `${target}.js`, path.join(target, 'index.js')]
  return candidates.find(file => fs.statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.isFile()) ?? `${target}.js`
}

/** @param {string} file */
function isOurs (file) {
  return !isBuiltin(file) && file.endsWith('.js')
}

/** @param {string} file @returns {string} */
function layerOf (file) {
  const [top, second] = file.split(path.sep)
  return top === 'lib' ? second.replace(/\.js$/, '') : top
}

/** @param {string} file @returns {string | null} its folder inside its layer; null: it lies beside the folders */
function folderOf (file) {
  const [, , folder, ...rest] = file.split(path.sep)
  return rest.length > 0 ? folder : null
}

/**
 * @param {string} layer
 * @returns {[string, string][]} imports from the files in the folders of a layer to other files of this layer
 */
function importsInside (layer) {
  return files.filter(file => layerOf(file) === layer && folderOf(file) !== null)
    .flatMap(file =>
      /** @type {string[]} */ (edges.get(file)).filter(isOurs).filter(target => layerOf(target) === layer)
        .map(target => /** @type {[string, string]} */ ([file, target])))
}

/** @param {Iterable<[string, string[]]>} graph @returns {string[]} each cycle as a → b → a */
function cyclesOf (graph) {
  const targets = new Map(graph)
  /** @type {Set<string>} */
  const done = new Set()
  /** @type {string[]} */
  const cycles = []
  const visit = (/** @type {string} */ node, /** @type {string[]} */ way) => {
    if (way.includes(node)) cycles.push([...way.slice(way.indexOf(node)), node].join(' → '))
    if (way.includes(node) || done.has(node)) return
    for (const target of targets.get(node) ?? []) visit(target, [...way, node])
    done.add(node)
  }
  for (const node of targets.keys()) visit(node, [])
  return cycles
}

t.test('imports are found', async t => {
  t.ok(files.length > 30)
  t.ok(edges.get('lib/primary/measuring/sampler.js')?.includes('lib/tables/reasons.js'))
  t.ok(edges.get('lib/primary/workers/spawner.js')?.includes('lib/tables/budget.js'))
  t.ok(edges.get('lib/core/units.js')?.includes('bytes'))
})

t.test('every imported file exists', async t => {
  const missing = files.flatMap(file => /** @type {string[]} */ (edges.get(file))
    .filter(target => isOurs(target) && !fs.existsSync(path.join(ROOT, target)))
    .map(target => `${file} → ${target}`))
  t.same(missing, [])
})

t.test('every folder of lib/ has a layer', async t => {
  t.same([...new Set(files.map(layerOf))].filter(layer => !Object.hasOwn(MAY_IMPORT, layer)), [])
})

t.test('a type of another file is imported, by its name', async t => {
  const renames = /@typedef \{import\('[^']+'\)\.\w+\} \w+/
  t.match("/** @typedef {import('./a').B} C */", renames)
  t.same(files.filter(file => renames.test(fs.readFileSync(path.join(ROOT, file), 'utf8'))), [], 'write @import')
})

t.test('imports point down', async t => {
  const upward = files.flatMap(file => /** @type {string[]} */ (edges.get(file))
    .filter(isOurs)
    .filter(target => !(MAY_IMPORT)[layerOf(file)]?.includes(layerOf(target)))
    .map(target => `${file} → ${target}`))
  t.same(upward.sort(), BY_NAME.filter(edge => edge.startsWith('lib/features/')).sort())
})

t.test('no fleet loads lib/tools: a command, the drill of the API, a report, and a page that is opened do', async t => {
  const mayImport = /^lib\/(cli\/|index\.js$|features\/[\w-]+\/(report|page)\.js$|operate\/admin\/live-page\.js$)/
  const importers = files.filter(file => layerOf(file) !== 'tools' && edges.get(file)?.some(target => layerOf(target) === 'tools'))
  t.ok(importers.length > 0)
  t.same(importers.filter(file => !mayImport.test(file)), [])
  const eagerly = importers.filter(file => !file.startsWith('lib/features/') && file !== 'lib/operate/admin/live-page.js')
    .filter(file => /^const .* = require\('\.{1,2}\/tools\//m.test(code(file)))
  t.same(eagerly, [], 'where it is used, in a function')
})

t.test('imports make no cycle', async t => {
  t.same(cyclesOf([...edges].map(([file, targets]) => [file, targets.filter(isOurs)])), [])
  t.same(cyclesOf([['a', ['b']], ['b', ['c']], ['c', ['b']]]), ['b → c → b'], 'a cycle is found')
})

for (const [layer, { folders, shared }] of Object.entries(INSIDE)) {
  t.test(`the folders of lib/${layer} import each other as the table says`, async t => {
    /** @type {Record<string, Set<string>>} */
    const found = {}
    for (const file of files.filter(file => layerOf(file) === layer)) found[folderOf(file) ?? ''] = new Set()
    delete found['']
    for (const [file, target] of importsInside(layer)) {
      const [from, to] = [String(folderOf(file)), folderOf(target)]
      if (to !== null && to !== from) found[from].add(to)
    }
    const sorted = (/** @type {Record<string, Iterable<string>>} */ lists) =>
      Object.entries(lists).map(([folder, list]) => [folder, [...list].sort()]).sort()
    t.same(sorted(found), sorted(folders))
    t.same(cyclesOf(Object.entries(folders)), [])
  })

  t.test(`of the files beside them the folders of lib/${layer} import ${shared.join(', ') || 'none'} alone`, async t => {
    const beside = importsInside(layer).filter(([, target]) => folderOf(target) === null && !shared.includes(path.basename(target, '.js')))
    t.same(beside.map(edge => edge.join(' → ')), [])
  })
}

t.test('no file outside a feature imports it or names what it adds', async t => {
  const pauses = /^lib\/((core\/gc-pauses|tables\/(figures|message))|operate\/admin\/(metrics|gauges)|primary\/(status|measuring\/sampler|workers\/worker-handle)|tools\/report\/\w+|worker\/(enter|vitals\/[\w-]+))\.js$/
  /** Words of HTTP, of V8, of cluster and of everyday, too: where they are those. @type {Record<string, RegExp>} */
  const others = { upgrade: /^lib\/(worker\/|(core\/request-replay|tools\/report\/schema)\.js$)/, scaling: /^lib\/tools\/report\/schema\.js$/, gc: pauses, autoscale: /^lib\/(core\/container-budget|tables\/resolved-options)\.js$/, heap: pauses, output: /./, fork: /^lib\/(tools\/drill\/load|primary\/workers\/(channel-guard|spawner)|worker\/preload)\.js$/, warm: /^lib\/worker\// }
  for (const {
    name,
    options,
    commands,
    environment = {},
    events = {},
    warnings = {},
    verbs = {},
    succession,
    metrics = [],
    status,
    report,
    api = [],
    figures = {}
  } of FEATURES) {
    const names = new Set([...options({ row, types }).flatMap(({ name, key, flag }) => [name, key, flag.split(' ')[0].slice(2)]), ...Object.keys(environment), ...Object.keys(events), ...Object.keys(warnings).filter(name => name.includes('-')), ...[...metrics, ...Object.values(events).flatMap(({ counter }) => counter ?? [])].map(({ name }) => name), ...Object.keys(verbs), ...Object.keys(commands?.(KINDS) ?? {}), succession?.reason, succession?.command, status?.key, report?.key].filter(word => word !== undefined))
    t.ok(names.size + api.length + Object.keys(figures).length > 0)
    // The short help is a page of words, which test/cli/usage.test.js holds to the commands that there are; the other
    // file is where the primary calls features by their names
    const outside = files.filter(file => !file.startsWith('lib/features/') && file !== 'lib/cli/help.js' && file !== 'lib/primary/features.js')
    names.delete('keepAliveTimeout') // of Node's servers, which have it
    for (const word of names) {
      const named = new RegExp(`\\b${word}\\b(?! from \\$)`) // save in 'scaling from 1 to 2 workers'
      const asOurs = new RegExp(`(--|options\\.|supervisor\\.|commands\\.)${word}\\b`)
      t.same(outside.filter(file => (others[word]?.test(file) ? asOurs : named).test(code(file))), [], `${name}: ${word}`)
    }
  }
  const inside = files.filter(file => !file.startsWith('lib/features/')).flatMap(file => /** @type {string[]} */ (edges.get(file)).filter(target => /^lib\/features\/(?!(?:index|by-name)\.js$)/.test(target)).map(target => `${file} → ${target}`))
  t.same(inside, BY_NAME.filter(edge => !edge.startsWith('lib/features/')))
  const listed = /** @type {string[]} */ (edges.get('lib/features/list.js'))
  t.same(listed.sort(), FEATURES.map(({ name }) => `lib/features/${name}/feature.js`).sort())
})

t.test('prepare, enter and the API use every folder of the worker', async t => {
  const used = new Set(['prepare', 'enter', 'api'].flatMap(file => edges.get(`lib/worker/${file}.js`) ?? []).filter(isOurs).map(folderOf))
  t.same(Object.keys(INSIDE.worker.folders).filter(folder => !used.has(folder)), [])
})

t.test('the code injected into the app loads no package', async t => {
  /** @type {Set<string>} */
  const loaded = new Set()
  const load = (/** @type {string} */ target) => {
    // They are loaded in the primary, by the check of options, in a report, in a command and for the log
    if (loaded.has(target) || /^lib\/features\/.*\/(primary|profiles|notifier|report|command|folder|sentence)\.js$/.test(target)) return
    loaded.add(target)
    for (const next of edges.get(target) ?? []) load(next)
  }
  load('lib/worker/preload.js')
  load('lib/worker/index.js')
  t.ok(loaded.size > 10)
  // Ours, for its version
  t.same([...loaded].filter(target => !isOurs(target) && !target.startsWith('node:') && target !== 'package.json'), [])
})

t.test('core and tables are pure: no clock, timer, fs or process', async t => {
  for (const file of files.filter(file => ['core', 'tables'].includes(layerOf(file)))) {
    t.same(/** @type {string[]} */ (edges.get(file)).filter(isBuiltin), [], `${file} imports no module of Node`)
    const impure = code(file).replace(/'[^'\n]*'|"[^"\n]*"/g, "''").match(/\b(?:Date\.now|new Date|performance\.|Math\.random|setTimeout|setInterval|setImmediate|process\.)/g)
    t.same(impure, null, file)
  }
})

t.test('npm run test:unit starts no fleet', async t => {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  const bundles = [...scripts['test:unit'].matchAll(/test\/bundles\/(\w+)\.test\.js/g)].map(([, name]) => name)
  const tests = bundles.flatMap(filesOf).map(file => path.join(ROOT, 'test', file))
  t.ok(tests.length > 80)
  for (const file of tests) t.notMatch(fs.readFileSync(file, 'utf8'), /\b(startFleet|startCli|supervise)\(/, file)
})

t.test('each test file is run once: by a bundle, or for itself', async t => {
  const [bundles, alone] = [suite().filter(file => file.startsWith('bundles/')), suite().filter(file => !file.startsWith('bundles/'))]
  t.same([...Object.keys(BUNDLES).flatMap(filesOf), ...alone].sort(), testFiles())
  t.same(bundles.sort(), fs.readdirSync(path.join(ROOT, 'test', 'bundles')).map(name => `bundles/${name}`).sort())
  for (const name of Object.keys(BUNDLES)) t.ok(filesOf(name).length > 0, name)
  t.same(suite().slice(0, LONGEST.length), LONGEST, 'each of those that are begun first is there')
})
