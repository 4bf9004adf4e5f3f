'use strict'

/**
 * The kinds of option values: what a flag, the environment and the library accept as text or number, and what a config
 * file may contain, which is stricter about types.
 */

const { badOption } = require('./errors')
const { parseSize, parseTime, withUnit } = require('./units')
/** @import { Limit } from './limit' */

/**
 * @typedef {object} Kind how a value is read
 * @property {string} accepts completes the sentence "it takes …"
 * @property {(value: any) => any} read the value in the option's internal unit; undefined: not acceptable
 * @property {(value: unknown) => string | undefined} [instead] completes the sentence for a value that has a mistake of
 *   its own
 * @property {readonly string[]} [words] accepted literally
 * @property {boolean} [isFile] any value but the words is a path
 *
 * @typedef {Kind & { schema: Schema, value?: string }} OptionKind of an option that a config file may contain; `value`:
 *   its type in TypeScript, or where in lib/ that is, if it is not the (first) one of the schema
 *
 * @typedef {object} Schema JSON schema of the value in a config file; accepts what `read` accepts of these types
 * @property {readonly Schema[]} [anyOf] @property {'integer' | 'number' | 'string' | 'boolean' | 'array'} [type]
 * @property {readonly (string | number)[]} [enum] @property {string} [pattern] @property {number} [minimum]
 * @property {number} [maximum] @property {number} [minLength] @property {Schema} [items]
 */

const LONGEST_MS = 2 ** 31 - 1 // the maximum of Node's timers
const SMALLEST_BUDGET = 1024 ** 2
const PERCENT = Object.freeze({ type: 'string', pattern: '^\\d+(\\.\\d+)?%$' })

/** @type {Record<string, (...a: any[]) => OptionKind>} */
const types = {
  count: (min, max) => ({
    accepts: `a whole number from ${min} to ${max}`,
    schema: { type: 'integer', minimum: min, maximum: max },
    read: value => inRange(types.whole().read(value) ?? NaN, min, max)
  }),
  whole: () => ({
    accepts: 'a whole number',
    schema: { type: 'integer', minimum: 0 },
    read: value => /^\d+$/.test(textOf(value)) ? Number(value) : undefined
  }),
  workers: () => ({
    accepts: 'a whole number from 1 to 1024, auto, or a range such as 2..8 or 2..auto',
    schema: {
      anyOf: [types.count(1, 1024).schema, { enum: ['auto'] }, { type: 'string', pattern: '^\\d+\\.\\.(\\d+|auto)$' }]
    },
    words: ['auto'],
    read: value => {
      const [, min, max] = /^(.+)\.\.(.+)$/.exec(textOf(value)) ?? []
      if (min === undefined) return value === 'auto' ? value : types.count(1, 1024).read(value)
      const range = { min: types.count(1, 1024).read(min), max: max === 'auto' ? max : types.count(1, 1024).read(max) }
      return range.min !== undefined && range.max !== undefined && !(range.max < range.min) ? range : undefined
    }
  }),
  size: () => ({
    accepts: 'a size of at least 1MiB, such as 512MiB or 1.5G',
    schema: {
      anyOf: [
        { type: 'number', minimum: SMALLEST_BUDGET },
        { type: 'string', pattern: '^\\s*\\d+(\\.\\d+)?\\s*([kKmMgGtT]([iI]?[bB])?|[iI]?[bB])\\s*$' }
      ]
    },
    read: value => inRange(parseSize(textOf(value)) ?? NaN, SMALLEST_BUDGET, Number.MAX_SAFE_INTEGER)
  }),
  budget: () => ({
    accepts: `${types.size().accepts}, or auto`,
    schema: { anyOf: [...types.size().schema.anyOf ?? [], { enum: ['auto'] }] },
    words: ['auto'],
    read: value => value === 'auto' ? value : types.size().read(value)
  }),
  /** A Limit (limit.js): this kind's, or a percentage. */
  orPercent: ({ accepts, schema, read }, of) => ({
    accepts: `${accepts}, or a percentage of ${of}, such as 80%`,
    value: 'core/limit#Limit',
    schema: { anyOf: [...schema.anyOf ?? [schema], PERCENT] },
    read: value => shareOf(value) ?? most(read(value))
  }),
  urlPath: () => ({
    accepts: 'a path that begins with /, such as /healthz',
    schema: { type: 'string', pattern: '^/[\\x21-\\x7e]*$' },
    read: value => /^\/[\x21-\x7e]{0,1000}$/.test(textOf(value)) ? value : undefined
  }),
  /** `max`: in words `to`. */
  time: (min, text, { max = LONGEST_MS, to = '24 days', such = `${min > 500 ? '' : '500ms, '}30s or 2h` } = {}) => ({
    accepts: `a time of ${text} to ${to}, such as ${such}`,
    value: 'number',
    schema: {
      anyOf: [
        ...min === 0 ? [{ enum: [0] }] : [],
        { type: 'string', pattern: `^\\s*(\\d+(\\.\\d+)?\\s*[a-zA-Z]+${min === 0 ? '|0+' : ''})\\s*$` }
      ]
    },
    instead: value => withUnit(textOf(value)),
    read: value => inRange(parseTime(textOf(value)) ?? NaN, min, max)
  }),
  percent: () => ({
    accepts: 'a percentage from 0 to 90, such as 10 or 10%',
    schema: { anyOf: [{ type: 'number', minimum: 0, maximum: 90 }, PERCENT] },
    read: value => {
      const percent = inRange(/^\d+(\.\d+)?%?$/.test(textOf(value)) ? parseFloat(value) : NaN, 0, 90)
      return percent === undefined ? undefined : percent / 100
    }
  }),
  oneOf: (...values) => ({
    accepts: `one of ${values.join(', ')}`,
    schema: { enum: values },
    words: values,
    read: value => values.includes(value) ? value : undefined
  }),
  path: (...words) => ({
    accepts: ['a path', ...words].join(', or '),
    schema: { type: 'string', minLength: 1 },
    words,
    isFile: true,
    read: value => typeof value === 'string' && value !== '' ? value : undefined
  }),
  name: () => ({
    accepts: 'a name of up to 64 letters, digits, dots, dashes and underscores that begins with a letter or digit',
    schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' },
    read: value => /^[A-Za-z0-9][\w.-]{0,63}$/.test(textOf(value)) ? textOf(value) : undefined
  }),
  address: () => ({
    accepts: 'a port, or host:port, such as 9100, 127.0.0.1:9100 or [::1]:9100',
    value: '{ host: string, port: number }',
    schema: {
      anyOf: [
        { type: 'integer', minimum: 0, maximum: 65535 },
        { type: 'string', pattern: '^((\\[[\\da-fA-F:.]+\\]|[^:\\[\\]\\s]+):)\\d+$' }
      ]
    },
    read: value => {
      const found = /^(?:(?:\[(?<v6>[\da-fA-F:.]+)\]|(?<host>[^:[\]\s]+)):)?(?<port>\d+)$/.exec(textOf(value))?.groups
      const port = inRange(Number(found?.port ?? NaN), 0, 65535)
      return port === undefined ? undefined : { host: found?.v6 ?? found?.host ?? '127.0.0.1', port }
    }
  }),
  list: () => ({
    accepts: 'Node or V8 flags, each starting with -',
    schema: { anyOf: [{ type: 'array', items: { type: 'string', pattern: '^-' } }, { type: 'string' }] },
    read: value => {
      const list = typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : [value].flat()
      return list.every(item => typeof item === 'string' && item.startsWith('-')) ? list : undefined
    }
  }),
  boolean: () => ({
    accepts: 'true or false (also 1 or 0)',
    schema: { type: 'boolean' },
    read: value => new Map([['true', true], ['1', true], ['false', false], ['0', false]]).get(textOf(value))
  })
}

/**
 * @param {Kind} kind @param {unknown} given @param {string} option as the user knows it @returns {any} as `read` does
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function readAs ({ read, accepts, instead }, given, option) {
  const value = read(given)
  if (value !== undefined) return value
  throw badOption(option, given, instead?.(given) ?? accepts)
}

/**
 * Whether a config file may contain a value of this type. `read` checks its range and form.
 * @param {Schema} schema @param {unknown} value @returns {boolean}
 */
function isOfType (schema, value) {
  if (isQuotedNumber(schema, value)) return false
  if (schema.anyOf) return schema.anyOf.some(one => isOfType(one, value))
  if (schema.enum) return schema.enum.some(word => word === value)
  if (schema.type === 'array') return Array.isArray(value)
  if (schema.type === 'integer' || schema.type === 'number') return typeof value === 'number'
  return typeof value === schema.type // eslint-disable-line valid-typeof
}

/** Whether this is a number as text where the value may be a number. @param {Schema} schema @param {unknown} value */
function isQuotedNumber ({ anyOf = [] }, value) {
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) &&
    anyOf.some(({ type }) => type === 'integer' || type === 'number')
}

/**
 * The types that are accepted in place of this value, in words: "a number or a string".
 * @param {Schema} schema @param {unknown} value @returns {string}
 */
function typesOf (schema, value) {
  if (isQuotedNumber(schema, value)) return 'a number without quotes'
  const types = (schema.anyOf ?? [schema]).flatMap(({ type = [] }) => type === 'integer' ? 'number' : type)
  return [...new Set(types)].map(type => type === 'array' ? 'an array' : `a ${type}`).join(' or ')
}

/** The value as text; '' for values that have no text, such as objects. @param {unknown} value */
const textOf = value => ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''

/** @param {unknown} value @returns {Limit | undefined} undefined: it is no percentage from 1 to 100 */
function shareOf (value) {
  const share = inRange(/^\d+(\.\d+)?%$/.test(textOf(value)) ? parseFloat(textOf(value)) : NaN, 1, 100)
  return share === undefined ? undefined : { share: share / 100 }
}

/** @param {number | undefined} value @returns {Limit | undefined} */
const most = value => value === undefined ? undefined : { most: value }

/** @param {number} value @param {number} min @param {number} max */
const inRange = (value, min, max) => value >= min && value <= max ? value : undefined

module.exports = { textOf, types, readAs, isOfType, typesOf }
