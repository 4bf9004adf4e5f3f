'use strict'

/**
 * The JSON schema of `recycle report --json`, made of the types of its figures as their JSDoc has them: `Report` in
 * lib/tools/report/index.js, and of each feature the first parameter of `linesOf` in its report.js. Types are read,
 * not checked, so that this takes no longer than the files take to parse.
 */

const fs = require('node:fs')
const path = require('node:path')
const ts = require('typescript')
const { FEATURES } = require('../lib/features')

const LIB = path.join(__dirname, '..', 'lib')
/** Numbers with a range of their own, by the name of their type. @type {Record<string, object>} */
const RANGES = { Count: { minimum: 0 }, Share: { minimum: 0, maximum: 1 } }
const PLAIN = new Map([
  [ts.SyntaxKind.NumberKeyword, 'number'],
  [ts.SyntaxKind.StringKeyword, 'string'],
  [ts.SyntaxKind.BooleanKeyword, 'boolean']
])

/**
 * @typedef {{ file: string, typedefs: Map<string, any>, imports: Map<string, string>, functions: Map<string, any> }}
 *   Parsed
 */

/** @type {Map<string, Parsed>} */
const parsed = new Map()

/** @param {string} file of lib/ @returns {Parsed} */
function parse (file) {
  const known = parsed.get(file)
  if (known) return known
  const source = ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  /** @type {Parsed} */
  const found = { file, typedefs: new Map(), imports: new Map(), functions: new Map() }
  const visit = (/** @type {any} */ node) => {
    for (const tag of (node.jsDoc ?? []).flatMap((/** @type {any} */ doc) => doc.tags ?? [])) {
      if (ts.isJSDocTypedefTag(tag)) found.typedefs.set(String(tag.name?.text), tag)
      const names = ts.isJSDocImportTag(tag) && tag.importClause?.namedBindings
      if (!names || !ts.isNamedImports(names)) continue
      for (const { name } of names.elements) found.imports.set(name.text, /** @type {any} */ (tag).moduleSpecifier.text)
    }
    if (ts.isFunctionDeclaration(node)) found.functions.set(String(node.name?.text), node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  visit(source.endOfFileToken)
  parsed.set(file, found)
  return found
}

/** @param {Parsed} from @param {string} module */
function resolve (from, module) {
  return parse(require.resolve(path.join(path.dirname(from.file), module)))
}

/** @param {string} name @param {Parsed} at @returns {any} */
function named (name, at) {
  const tag = at.typedefs.get(name)
  if (!tag && at.imports.has(name)) return named(name, resolve(at, String(at.imports.get(name))))
  if (!tag) throw new Error(`${at.file} has no type ${name}`)
  const { typeExpression } = tag
  if (!ts.isJSDocTypeLiteral(typeExpression)) return schemaOf(typeExpression.type, at)
  return merged((typeExpression.jsDocPropertyTags ?? []).map((/** @type {any} */ { name, typeExpression, comment }) =>
    ({ properties: { [name.getText()]: described(schemaOf(typeExpression.type, at), comment) } })))
}

/** @param {any} type a node @param {Parsed} at @returns {any} its schema */
function schemaOf (type, at) {
  const plain = PLAIN.get(type.kind)
  if (plain) return { type: plain }
  if (ts.isParenthesizedTypeNode(type)) return schemaOf(type.type, at)
  if (ts.isArrayTypeNode(type)) return { type: 'array', items: schemaOf(type.elementType, at) }
  if (ts.isLiteralTypeNode(type)) return { const: JSON.parse(type.literal.getText().replaceAll("'", '"')) }
  if (ts.isUnionTypeNode(type)) return union(type.types.map(one => schemaOf(one, at)))
  if (ts.isIntersectionTypeNode(type)) return merged(type.types.map(one => schemaOf(one, at)))
  if (ts.isTypeLiteralNode(type)) {
    return merged(type.members.map((/** @type {any} */ { name, type }) =>
      ({ properties: { [name.getText()]: schemaOf(type, at) } })))
  }
  if (ts.isImportTypeNode(type)) {
    const module = /** @type {any} */ (type.argument).literal.text
    return reference(String(type.qualifier?.getText()), [], resolve(at, module))
  }
  if (ts.isTypeReferenceNode(type)) return reference(type.typeName.getText(), type.typeArguments ?? [], at)
  throw new Error(`${at.file}: what is the schema of ${type.getText()}?`)
}

/** @param {string} name @param {readonly any[]} of its arguments @param {Parsed} at */
function reference (name, of, at) {
  if (name === 'Record') return { type: 'object', additionalProperties: schemaOf(of[1], at) }
  if (name === 'Omit') {
    const { properties } = schemaOf(of[0], at)
    const left = [schemaOf(of[1], at)].flatMap(({ enum: names, const: one }) => names ?? [one])
    const kept = Object.entries(properties).filter(([key]) => !left.includes(key))
    return merged([{ properties: Object.fromEntries(kept) }])
  }
  return RANGES[name] ? { type: 'number', ...RANGES[name] } : named(name, at)
}

/** @param {any[]} schemas */
function union (schemas) {
  const isNull = (/** @type {any} */ one) => one.const === null
  const [first, ...more] = schemas.filter(one => !isNull(one))
  const isNullable = schemas.some(isNull)
  if ('const' in first || first.enum) {
    return { enum: [...[first, ...more].flatMap(one => one.enum ?? [one.const]), ...isNullable ? [null] : []] }
  }
  if (more.length > 0) throw new Error('a union of types is not known here')
  return !isNullable ? first : first.properties ? { anyOf: [{ type: 'null' }, first] } : { ...first, type: [first.type, 'null'] }
}

/** @param {any[]} schemas of objects */
function merged (schemas) {
  const properties = Object.assign({}, ...schemas.map(one => one.properties))
  return { type: 'object', required: Object.keys(properties), properties }
}

/** @param {any} schema @param {any} comment */
function described (schema, comment) {
  const text = (ts.getTextOfJSDocComment(comment) ?? '').replace(/\s+/g, ' ').trim()
  return text === '' ? schema : { ...schema, description: text }
}

/** What features have in the report, by key; all but a list is null where there is none. @returns {any} */
function ofFeatures () {
  return Object.assign({}, ...FEATURES.filter(({ report }) => report).map(({ name, report }) => {
    const key = String(report)
    const at = parse(path.join(LIB, 'features', name, 'report.js'))
    const [tag] = ts.getJSDocParameterTags(at.functions.get('linesOf').parameters[0])
    const schema = schemaOf(tag.typeExpression?.type, at)
    return schema.type === 'array'
      ? { [key]: described(schema, tag.comment), [`${key}Omitted`]: { type: 'number', description: 'earlier ones that are not listed' } }
      : { [key]: described(union([schema, { const: null }]), tag.comment) }
  }))
}

function reportSchema () {
  const report = named('Report', parse(path.join(LIB, 'tools', 'report', 'index.js')))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://www.npmjs.com/package/recycle-supervisor/report.v1.json',
    title: 'recycle report --json',
    description: 'Version 1. Times are in ms since the epoch, durations in ms, sizes in bytes. Fields are added within a version, never removed or changed in meaning.',
    ...merged([report, { properties: ofFeatures() }])
  }
}

module.exports = { reportSchema }
