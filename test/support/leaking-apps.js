'use strict'

/**
 * Apps that leak, each in another way, and some that do not, as CommonJS, ES modules and TypeScript. In a source, what
 * follows `// LEAK` ends a line where a function begins that may be named for the leak, and `/*: type *\/` is an
 * annotation in TypeScript, and nothing otherwise.
 */

const fs = require('node:fs')
const path = require('node:path')

/** @typedef {'cjs' | 'esm' | 'ts'} Language */

/** In TypeScript alone, so that lines are not where they are in what is run. */
const TYPES = `type Id = number

interface Row {
  i: number
  text: string
}

interface Entry {
  id: Id
  at: number
  tags: string[]
}
`

/** What every app does beside: it parses, computes and allocates for each request, and keeps nothing of it. */
const CHURN = `
function page (n/*: number*/) {
  const rows/*: Row[]*/ = []
  for (let i = 0; i < 60; i++) rows.push({ i, text: 'row ' + (n + i) })
  return JSON.stringify(JSON.parse(JSON.stringify(rows)).filter((row/*: Row*/) => row.i % 2 === 0))
}

let served = 0
const server = http.createServer((request, response) => {
  const n = ++served
  for (let i = 0; i < 10; i++) work(10 * n + i)
  setImmediate(() => response.end(page(n)))
})
server.listen(Number(process.env.PORT))
`

/**
 * @type {Record<string, { source: string, imports?: [string, string][], files?: Record<string, string>,
 *   verdict?: string[] }>} by name; `verdict`: what is right, 'grows' unless told
 */
const APPS = {
  'a Map by id': {
    source: `
const byId = new Map/*:: <Id, Entry>*/()
function remember (id/*: Id*/) { // LEAK
  byId.set(id, { id, at: id * 2, tags: new Array(100).fill('a' + id) })
}
function work (n/*: number*/) {
  remember(n)
}
`
  },
  'closures in an event emitter': {
    imports: [['{ EventEmitter }', 'node:events']],
    source: `
const bus = new EventEmitter().setMaxListeners(0)
function subscribe (id/*: Id*/) { // LEAK
  const state = { id, seen: [id, id + 1, id + 2] }
  bus.on('price', () => state.seen.push(id)) // LEAK
}
function work (n/*: number*/) {
  subscribe(n)
}
`
  },
  'a timer never cleared': {
    source: `
function poll (id/*: Id*/) { // LEAK
  setInterval(() => id + 1, 3_600_000) // LEAK
}
function work (n/*: number*/) {
  poll(n)
}
`
  },
  'a promise never settled': {
    source: `
const waiting = new Map/*:: <Id, (value: number) => void>*/()
function reply (id/*: Id*/) { // LEAK
  return new Promise/*:: <number>*/(resolve => { // LEAK
    waiting.set(id, resolve)
  })
}
async function ask (id/*: Id*/) { // LEAK
  const answer = await reply(id)
  return answer + 1
}
function work (n/*: number*/) {
  ask(n)
}
`
  },
  'a module-level array': {
    source: `
const log/*: Entry[]*/ = []
const note = (id/*: Id*/) => { // LEAK
  log.push({ id, at: id, tags: new Array(100).fill('GET') })
}
function work (n/*: number*/) {
  note(n)
}
`
  },
  'an LRU without bound': {
    source: `
class Lru {
  map = new Map/*:: <Id, Entry>*/()
  get (id/*: Id*/) { // LEAK
    const found = this.map.get(id) ?? this.load(id)
    this.map.delete(id)
    this.map.set(id, found)
    return found
  }

  load (id/*: Id*/) { // LEAK
    return { id, at: id, tags: new Array(100).fill('x' + id) }
  }
}
const lru = new Lru()
function work (n/*: number*/) {
  lru.get(n)
}
`
  },
  'an AsyncLocalStorage store': {
    imports: [['{ AsyncLocalStorage, AsyncResource }', 'node:async_hooks'], ['{ EventEmitter }', 'node:events']],
    source: `
const context = new AsyncLocalStorage()
const closing = new EventEmitter().setMaxListeners(0)
function trace (id/*: Id*/) { // LEAK
  const store = { id, spans: ['begin ' + id, 'parse ' + id] }
  context.run(store, () => { // LEAK
    closing.once('close', AsyncResource.bind(() => {})) // LEAK
  })
}
function work (n/*: number*/) {
  trace(n)
}
`
  },
  'a session store': {
    imports: [['{ randomUUID }', 'node:crypto']],
    source: `
const sessions/*: Record<string, unknown>*/ = Object.create(null)
const store = {
  create (user/*: number*/) { // LEAK
    const id = randomUUID()
    sessions[id] = { id, user, cart: [], csrf: randomUUID() }
    return id
  }
}
function work (n/*: number*/) {
  store.create(n)
}
`
  },
  'detached Buffers': {
    verdict: ['outside', 'grows'],
    source: `
const frames/*: Buffer[]*/ = []
function capture (n/*: number*/) { // LEAK
  frames.push(Buffer.allocUnsafeSlow(8000).fill(n & 255))
}
function work (n/*: number*/) {
  capture(n)
}
`
  },
  "a slice of a text, by a regular expression's match": {
    source: `
const names/*: string[]*/ = []
function receive (n/*: number*/) { // LEAK
  return Buffer.alloc(1500, 'name=user-of-the-shop-' + n + ';').toString('latin1')
}
function nameIn (text/*: string*/) { // LEAK
  const found = /name=([a-z0-9-]{15,})/.exec(text)
  if (found) names.push(found[1])
}
function work (n/*: number*/) {
  nameIn(receive(n))
}
`
  },
  'a graph of instances of a class': {
    source: `
class Span {
  children/*: Span[]*/ = []
  name = ''
  parent/*: Span | null*/ = null
  constructor (parent/*: Span | null*/, name/*: string*/) { // LEAK
    this.parent = parent
    this.name = name
    parent?.children.push(this)
  }
}
let current = new Span(null, 'root')
function enter (n/*: number*/) { // LEAK
  const span = new Span(current, 'span ' + n)
  if (n % 3 === 0) current = span
}
function work (n/*: number*/) {
  enter(n)
}
`
  },
  'a leak in a dependency': {
    imports: [['memoize', 'leaky-memo']],
    files: {
      'node_modules/leaky-memo/package.json': '{ "name": "leaky-memo", "version": "1.0.0", "main": "index.js" }',
      'node_modules/leaky-memo/index.js': `'use strict'
module.exports = fn => {
  const known = new Map()
  return key => {
    if (!known.has(key)) known.set(key, { key, value: fn(key), hits: new Array(100).fill(key) })
    return known.get(key).value
  }
}
`
    },
    source: `
const priceOf = memoize((id/*: Id*/) => id * 1.1) // LEAK
function quote (id/*: Id*/) { // LEAK
  return priceOf(id)
}
function work (n/*: number*/) {
  quote(n)
}
`
  },
  'none: what a request needs is freed': {
    verdict: ['none', 'few'],
    imports: [['{ EventEmitter }', 'node:events']],
    source: `
function work (n/*: number*/) {
  const bus = new EventEmitter()
  const seen = new Map/*:: <Id, Entry>*/()
  for (let i = 0; i < 8; i++) {
    seen.set(i, { id: n, at: i, tags: ['t' + i] })
    bus.on('x', () => seen.size)
  }
  const timer = setTimeout(() => bus.emit('x'), 5)
  setTimeout(() => clearTimeout(timer), 2)
  return Buffer.alloc(3000, String(n)).toString('hex').split('3').length
}
`
  },
  'none: a bounded cache that is full, and sessions that expire': {
    verdict: ['none', 'fills'],
    source: `
const cache = new Map/*:: <Id, Entry>*/()
const sessions = new Map/*:: <string, number>*/()
function work (n/*: number*/) {
  const id = n % 400
  cache.delete(id)
  cache.set(id, { id, at: n, tags: ['c' + n, 'd' + n] })
  if (cache.size > 300) cache.delete(cache.keys().next().value/*! */)
  const name = 's' + n
  sessions.set(name, n)
  setTimeout(() => sessions.delete(name), 500)
}
`
  }
}

/**
 * Writes an app.
 *
 * @param {string} folder that does not exist
 * @param {string} name of APPS
 * @param {Language} language
 * @returns {{ file: string, lines: number[] }} `lines`: where functions begin that may be named
 */
function writeApp (folder, name, language) {
  const { source, imports = [], files = {} } = APPS[name]
  const all = [['http', 'node:http'], ...imports]
  const heading = all.map(([what, from]) => language === 'cjs' ? `const ${what} = require('${from}')` : `import ${what} from '${from}'`).join('\n')
  const text = [language === 'cjs' ? "'use strict'\n" : '', `${heading}\n`, language === 'ts' ? TYPES : '', source, CHURN].join('\n')
  const written = language === 'ts' ? text.replace(/\/\*::? ?(.*?)\*\//g, (all, type) => all.startsWith('/*::') ? type : `: ${type}`).replace(/\/\*! \*\//g, '!') : text.replace(/\/\*[:!].*?\*\//g, '')
  const file = path.join(folder, { cjs: 'app.cjs', esm: 'app.mjs', ts: 'app.mts' }[language])
  for (const [name, content] of Object.entries({ ...files, [path.basename(file)]: written })) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), content)
  }
  return { file, lines: written.split('\n').flatMap((line, i) => line.endsWith('// LEAK') ? [i + 1] : []) }
}

/**
 * @param {Record<string, any>} result of a study
 * @param {{ file: string, lines: number[], verdict?: string[] }} expected
 * @returns {'right' | 'not found' | 'false'} false: another line is named, or one where there is no leak
 */
function compareLeak ({ outcome }, { file, lines, verdict = ['grows'] }) {
  const named = outcome.found.filter((/** @type {any} */ { isSure, isGrowing }) => isSure && isGrowing)
  const isRight = (/** @type {any} */ { at }) => at.file === file && lines.includes(at.line)
  if (lines.length === 0) return named.length > 0 || !verdict.includes(outcome.verdict) ? 'false' : 'right'
  if (named.length > 0) return isRight(named[0]) ? 'right' : 'false'
  return 'not found'
}

module.exports = { APPS, writeApp, compareLeak }
