'use strict'

const { attempt } = require('./attempt')
/** @import { Kind } from '../tables/message' */

/**
 * The required shape of a value from another process, as data. A shape checks a value: null if it is valid, else which
 * part is wrong and what is accepted there.
 *
 * @template [Value=unknown]
 * @typedef {((value: unknown) => Flaw | null) & { longest?: () => any, valid?: Value }} Shape `longest`: a value that
 *   takes most room in JSON, of an endless list one item; `valid`: a type alone
 */

/** @typedef {object} Flaw @property {string} at path of the part; '': the value @property {string} accepts */

/** @template Of @typedef {Of extends Shape<infer Value> ? Value : never} ValueOf a shape: what it lets pass */

/**
 * @template {Record<string, Shape>} Fields
 * @typedef {{ [Name in keyof Fields as undefined extends ValueOf<Fields[Name]> ? never : Name]: ValueOf<Fields[Name]> }
 *   & { [Name in keyof Fields as undefined extends ValueOf<Fields[Name]> ? Name : never]?: ValueOf<Fields[Name]> }
 *   } RecordOf
 */

/**
 * @template Value
 * @param {string} accepts @param {(value: any) => boolean} test @param {() => Value} [longest] @returns {Shape<Value>}
 */
function shape (accepts, test, longest) {
  return Object.assign((/** @type {unknown} */ value) => test(value) ? null : { at: '', accepts }, { longest })
}

const count =
  shape('a whole number from 0 to 2^53', value => Number.isSafeInteger(value) && value >= 0, () => 2 ** 53 - 1)
const integer = shape('a whole number', value => Number.isSafeInteger(value), () => 1 - 2 ** 53)
const number = shape('a number', value => Number.isFinite(value), () => -Number.MAX_VALUE)
const duration = shape('milliseconds, 0 or more', value => Number.isFinite(value) && value >= 0, () => Number.MAX_VALUE)
const ratio = shape('a number from 0 to 1', value => Number.isFinite(value) && value >= 0 && value <= 1, () => 1 / 3)
const flag = shape('true or false', value => typeof value === 'boolean', () => false)

const object =
  shape('an object', value => typeof value === 'object' && value !== null && !Array.isArray(value), () => ({}))

/** @param {number} most characters */
function text (most) {
  return shape(
    `text of at most ${most} characters`, value => typeof value === 'string' && value.length <= most,
    () => 'x'.repeat(most)
  )
}

/**
 * @template {null | undefined} Absent @param {Absent} absent @param {string} called
 * @returns {<Value>(inner: Shape<Value>) => Shape<Value | Absent>} that also accepts that
 */
const or = (absent, called) => inner => Object.assign((/** @type {unknown} */ value) => {
  const flaw = value === absent ? null : inner(value)
  return flaw?.at === '' ? { at: '', accepts: `${flaw.accepts}, or ${called}` } : flaw
}, { longest: inner.longest })
const orNull = or(null, 'null')
/** A field that may be missing. */
const optional = or(undefined, 'nothing')

/** @template Value @param {Shape<Value>} inner @param {number} [most] items @returns {Shape<Value[]>} */
function listOf (inner, most = Infinity) {
  const longest = () => Array(most === Infinity ? 1 : most).fill(inner.longest?.())
  return Object.assign((/** @type {unknown} */ value) => {
    if (!Array.isArray(value)) return { at: '', accepts: 'a list' }
    if (value.length > most) return { at: '', accepts: `a list of at most ${most}` }
    for (const [i, item] of value.entries()) {
      const flaw = inner(item)
      if (flaw) return { ...flaw, at: `[${i}]${flaw.at}` }
    }
    return null
  }, { longest })
}

/**
 * @template Value @param {Shape<Value>} inner @param {number} most entries
 * @returns {Shape<Record<string, Value>>} of an object with any names
 */
function mapOf (inner, most) {
  const longest = () => Object.fromEntries(Array.from({ length: most }, (_, i) => [i, inner.longest?.()]))
  const ofValues = listOf(inner, most)
  return Object.assign((/** @type {unknown} */ value) =>
    object(value) ?? ofValues(Object.values(/** @type {object} */ (value))), { longest })
}

/**
 * @template {Record<string, Shape>} Fields @param {Fields} fields all that are allowed
 * @param {{ isOpen?: boolean }} [how] `isOpen`: others may be there, too @returns {Shape<RecordOf<Fields>>}
 */
function record (fields, { isOpen = false } = {}) {
  const names = Object.keys(fields)
  const required = names.filter(name => fields[name](undefined) !== null)
  const longest = () => Object.fromEntries(names.map(name => [name, fields[name].longest?.()]))
  // Most often all is well: fields that are not there cost nothing then
  const isSound = (/** @type {any} */ value) => required.every(name => Object.hasOwn(value, name)) &&
    Object.keys(value).every(name => Object.hasOwn(fields, name) ? fields[name](value[name]) === null : isOpen)
  return Object.assign((/** @type {unknown} */ value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { at: '', accepts: 'an object' }
    if (isSound(value)) return null
    for (const name of names) {
      const flaw = fields[name](Object.hasOwn(value, name) ? /** @type {any} */ (value)[name] : undefined)
      if (flaw) return { ...flaw, at: `.${name}${flaw.at}` }
    }
    const stray = isOpen ? undefined : Object.keys(value).find(name => !Object.hasOwn(fields, name))
    // A name may have line ends
    return stray === undefined
      ? null
      : { at: `.${JSON.stringify(stray.slice(0, 40)).slice(1, -1)}`, accepts: 'nothing' }
  }, { longest })
}

/**
 * @param {string} name of the field that says which of these it is
 * @param {Record<string, Record<string, Shape>>} fields those that are allowed beside it, by its value
 * @param {{ isOpen?: boolean }} [how] @returns {Shape}
 */
function oneOf (name, fields, how) {
  const known = shape(`one of ${Object.keys(fields).join(', ')}`,
    value => typeof value === 'string' && Object.hasOwn(fields, value))
  const records = Object.fromEntries(Object.entries(fields)
    .map(([value, own]) => [value, record({ [name]: known, ...own }, how)]))
  const longest = () => Object.entries(records).map(([value, record]) => ({ ...record.longest?.(), [name]: value }))
    .reduce((most, one) => JSON.stringify(one).length > JSON.stringify(most).length ? one : most)
  return Object.assign((/** @type {unknown} */ value) => {
    const of = object(value) === null ? /** @type {any} */ (value)[name] : ''
    return (known(of) === null ? records[of] : record({ [name]: known }, { isOpen: true }))(value)
  }, { longest })
}

/**
 * @template Value @param {Shape<Value>} shape
 * @param {string} text JSON, or anything @returns {Value | null} null: it is none of this shape
 */
function parse (shape, text) {
  const value = attempt(() => JSON.parse(text), undefined)
  return shape(value) === null ? value : null
}

/**
 * A kind of message.
 * @param {string} what it says @param {Record<string, Shape> | Shape} [fields] @param {Kind['handle']} [handle]
 * @param {{ isAside?: boolean, isOpen?: boolean }} [how] @returns {Kind}
 */
function kind (what, fields = {}, handle = 'none', { isAside = false, isOpen = false } = {}) {
  const shape = typeof fields === 'function' ? fields : record(fields, { isOpen })
  return { what, fields: shape, handle, isAside }
}

module.exports = {
  kind, shape, count, number, integer, duration, ratio, flag, text, orNull, optional, listOf, mapOf, oneOf, record,
  object, parse
}
