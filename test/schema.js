'use strict'

/**
 * npm run schema: writes what is made of the table of options: their types, and the schema of config files; and the
 * types of the journal's lines and of messages. That schema and the report's are in the package alone (prepack).
 */

const fs = require('node:fs')
const path = require('node:path')
const { OPTIONS } = require('../lib/tables/options')
const { configSchema } = require('./config-schema')
const { reportSchema } = require('./report-schema')

const LIB = path.join(__dirname, '..', 'lib')

/** @param {any} schema of one option @returns {string} in TypeScript */
function typeOf ({ type, items, anyOf, enum: words }) {
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' | ')
  if (words) return words.map((/** @type {unknown} */ word) => JSON.stringify(word).replaceAll('"', "'")).join(' | ')
  if (type === 'array') return `${typeOf(items)}[]`
  return type === 'integer' ? 'number' : type
}

/** Resolved. @param {Readonly<import('../lib/tables/options').Option>} option @returns {string} in TypeScript */
function valueOf ({ kind: { value, schema }, fallback }) {
  const type = value?.replace(/^([\w/-]+)#(\w+)$/, "import('./$1').$2")
  return `${type ?? typeOf((schema.anyOf ?? [schema])[0])}${fallback === null ? ' | null' : ''}`
}

/**
 * The options of supervise(), of drill() and of config files, and what they are resolved to.
 *
 * @returns {string}
 */
function optionTypes () {
  const { app, args, $schema, ...options } = configSchema().properties
  const rows = Object.entries(options).map(([name, option]) => `  /** ${option.description.replace('*/', '* /')} */\n  ${name}?: ${typeOf(option)}`)
  const resolved = OPTIONS.map(option => `  ${option.key}: ${valueOf(option)}`)
  return `// Made by npm run schema.\n\n/** The options of a fleet: sizes are numbers of bytes or text, times are text with a unit. */\nexport interface FleetOptions {\n${rows.join('\n')}\n}\n\n/** Sizes in bytes, times in ms. */\nexport interface ResolvedOptions {\n${resolved.join('\n')}\n}\n`
}

if (require.main === module) {
  const write = (/** @type {string} */ file, /** @type {object} */ schema) =>
    fs.writeFileSync(path.join(LIB, file), `${JSON.stringify(schema, null, 2)}\n`)
  write('core/config.schema.json', configSchema())
  write('tools/report/report.schema.json', reportSchema())
  fs.writeFileSync(path.join(LIB, 'options.d.ts'), optionTypes())
  fs.writeFileSync(path.join(LIB, 'lines.d.ts'), require('./journal-types').journalTypes())
  fs.writeFileSync(path.join(LIB, 'messages.d.ts'), require('./message-types').messageTypes())
}

module.exports = { optionTypes }
