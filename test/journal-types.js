'use strict'

/**
 * npm run schema: the types of the journal's lines, made of the calls in lib/ that record them. The fields of an event
 * are those of the objects that these calls are given for it; tsc then checks each call against the result.
 */

const path = require('node:path')
const ts = require('typescript')
const { EVENTS } = require('../lib/journal/events')

const ROOT = path.join(__dirname, '..')
const LIB = path.join(ROOT, 'lib')
const RECORDERS = new Set(['record', 'announce'])
const WARNERS = new Set(['warn', 'warnOnce'])
/** Of workers without a primary, with what each of their lines has. */
const ORPHANS = new Set(['say', '#say'])
const OF_ORPHANS = { slot: 'number | null', pid: 'number', oldPid: 'number', since: 'number' }
/** Written by the journal itself. */
const OF_JOURNAL = {
  'journal.gap': { lines: 'number | null', from: 'number | null', to: 'number | null', why: 'string | null' },
  'journal.end': { why: 'string' },
  'journal.begin': { why: 'string' }
}

/** @typedef {Map<string, { type: string, isOptional: boolean }>} Fields */

/** @returns {Map<string, Fields>} by event */
function fieldsOfEvents () {
  const { config } = ts.readConfigFile(path.join(ROOT, 'jsconfig.build.json'), ts.sys.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const program = ts.createProgram(fileNames, { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  /** @type {Map<string, any[]>} */
  const found = new Map()
  const orphans = new Set()
  const visit = (/** @type {any} */ node) => {
    ts.forEachChild(node, visit)
    if (!ts.isCallExpression(node)) return
    const name = nameOf(node.expression)
    if (![RECORDERS, WARNERS, ORPHANS].some(names => names.has(name))) return // to know a type takes time
    const given = node.arguments.map(argument => checker.getTypeAtLocation(argument))
    const add = (/** @type {string} */ event, /** @type {any} */ fields) =>
      found.set(event, [...found.get(event) ?? [], fields])
    if (WARNERS.has(name) && given[0]?.getProperty('warning')) add('fleet.warning', given[0])
    if (WARNERS.has(name)) return
    const [event, fields] = given.slice(-2)
    for (const one of event === undefined ? [] : event.isUnion() ? event.types : [event]) {
      if (!one.isStringLiteral() || !Object.hasOwn(EVENTS, one.value)) continue
      add(one.value, fields)
      if (ORPHANS.has(name)) orphans.add(one.value)
    }
  }
  for (const file of program.getSourceFiles()) if (file.fileName.startsWith(LIB)) visit(file)
  const ofCalls = [...found].map(([event, types]) => /** @type {[string, Fields]} */ ([event, new Map([
    ...Object.entries(orphans.has(event) ? OF_ORPHANS : {}).map(plain),
    ...merged(types.flatMap(type => type.isUnion() ? type.types : [type]), checker)
  ])]))
  const ofJournal = Object.entries(OF_JOURNAL).map(([event, fields]) =>
    /** @type {[string, Fields]} */ ([event, new Map(Object.entries(fields).map(plain))]))
  return new Map([...ofCalls, ...ofJournal].sort(([a], [b]) => a < b ? -1 : 1))
}

/** @param {[string, string]} field @returns {[string, { type: string, isOptional: boolean }]} */
function plain ([name, type]) {
  return [name, { type, isOptional: false }]
}

/** @param {any} callee @returns {string} */
function nameOf (callee) {
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.text
}

/** @param {any[]} types of the objects that are recorded for one event @param {any} checker @returns {Fields} */
function merged (types, checker) {
  const isKnown = (/** @type {any} */ type) =>
    !(type.flags & ts.TypeFlags.Any) && (checker.getPropertiesOfType(type).length > 0 || types.length === 1)
  const all = types.filter(isKnown).map(type =>
    new Map(checker.getPropertiesOfType(type).map((/** @type {any} */ property) => [property.name, property])))
  /** @type {Fields} */
  const fields = new Map()
  for (const name of new Set(all.flatMap(properties => [...properties.keys()]))) {
    const known = all.flatMap(properties => properties.get(name) ?? [])
    const isOptional = known.length < all.length || known.some(({ flags }) => flags & ts.SymbolFlags.Optional)
    const texts = known.flatMap(property => unionOf(checker.getTypeOfSymbol(property), checker, 0))
    const types = texts.filter(text => text !== 'undefined' && text !== 'unknown')
    fields.set(name, { type: types.length > 0 ? joined(types) : 'unknown', isOptional })
  }
  return fields
}

/** @param {string[]} texts */
function joined (texts) {
  const all = [...new Set(texts)]
  return all.includes('unknown')
    ? 'unknown'
    : all.filter(text => !(/^'/.test(text) && all.includes('string'))).sort()
      .sort((a, b) => Number(a === 'null') - Number(b === 'null')).join(' | ')
}

/** @param {any} type @param {any} checker @param {number} depth @returns {string[]} in TypeScript, of plain data */
function unionOf (type, checker, depth) {
  const { flags } = type
  if (flags & ts.TypeFlags.Any || flags & ts.TypeFlags.Unknown || depth > 7) return ['unknown']
  if (flags & ts.TypeFlags.BooleanLike) return ['boolean']
  if (type.isUnion()) return [...new Set(type.types.flatMap((/** @type {any} */ one) => unionOf(one, checker, depth)))]
  if (flags & ts.TypeFlags.NumberLike) return ['number']
  if (type.isStringLiteral()) return [`'${type.value.replaceAll("'", "\\'")}'`]
  if (flags & ts.TypeFlags.StringLike) return ['string']
  if (flags & ts.TypeFlags.Null) return ['null']
  if (flags & ts.TypeFlags.Undefined) return ['undefined']
  const list = checker.getIndexTypeOfType(type, ts.IndexKind.Number)
  if (list && checker.isArrayLikeType(type)) {
    const items = joined(unionOf(list, checker, depth + 1))
    return [`readonly ${/[|]/.test(items) ? `(${items})` : items}[]`]
  }
  if (type.aliasSymbol?.name === 'Options' || checker.getPropertyOfType(type, 'drainTimeoutMs')) return ["import('./options').ResolvedOptions"]
  const values = checker.getIndexTypeOfType(type, ts.IndexKind.String)
  const properties = checker.getPropertiesOfType(type)
  if (properties.length === 0) return [values ? `Record<string, ${joined(unionOf(values, checker, depth + 1))}>` : 'object']
  const fields = properties.map((/** @type {any} */ property) => {
    const texts = unionOf(checker.getTypeOfSymbol(property), checker, depth + 1)
    const isOptional = property.flags & ts.SymbolFlags.Optional || texts.includes('undefined')
    return `${quoted(property.name)}${isOptional ? '?' : ''}: ${joined(texts.filter(text => text !== 'undefined'))}`
  })
  return [`{ ${fields.join(', ')} }`]
}

/** @param {string} name */
function quoted (name) {
  return /^\w+$/.test(name) ? name : `'${name}'`
}

/** @returns {string} */
function journalTypes () {
  const events = [...fieldsOfEvents()].map(([event, fields]) => {
    const each = [...fields].map(([name, { type, isOptional }]) => `${quoted(name)}${isOptional ? '?' : ''}: ${type}`)
    return `  ${quoted(event)}: { ${each.join(', ')} }\n`
  })
  return `// Made by npm run schema.

/** Fields by event; docs/journal.md says what they mean. */
export interface JournalFields {
${events.join('')}}

/** A line of the journal: of these events, by default of any. */
export type JournalLine<Events extends keyof JournalFields = keyof JournalFields> = {
  [Event in Events]: { v: number, t: number, event: Event } & JournalFields[Event]
}[Events]

/** A line that was read: of another version, or damaged, it may lack a field, or have another value there. */
export type ReadLine<Events extends keyof JournalFields = keyof JournalFields> = {
  [Field in { [Event in Events]: 'v' | 't' | 'event' | keyof JournalFields[Event] }[Events]]?: unknown
}

/** What is done with lines that are read, by event. */
export type LineHandlers = { readonly [Event in keyof JournalFields]?: (line: ReadLine<Event>) => void }
`
}

module.exports = { journalTypes }
if (require.main === module) process.stdout.write(journalTypes())
