'use strict'

/**
 * JSON Schema (draft 2020-12) in a few words: one function a kind of value, with what the value means as its last
 * argument. Fields of a record are required unless they are optional, and more fields than those may be there.
 *
 * @typedef {Record<string, any>} Schema of one value
 */

/** @param {Schema} schema @param {string} [about] @returns {Schema} */
function described (schema, about) {
  return about === undefined ? schema : { ...schema, description: about }
}

/** @param {Schema} schema @returns {(about?: string) => Schema} */
function kind (schema) {
  return about => described(schema, about)
}

const text = kind({ type: 'string' })
const flag = kind({ type: 'boolean' })
const number = kind({ type: 'number' })
const integer = kind({ type: 'integer' })
const count = kind({ type: 'number', minimum: 0 })
const whole = kind({ type: 'integer', minimum: 0 })
const ordinal = kind({ type: 'integer', minimum: 1 })
const share = kind({ type: 'number', minimum: 0, maximum: 1 })

/** @param {unknown} value @param {string} [about] */
function constant (value, about) {
  return described({ const: value }, about)
}

/** @param {readonly (string | number)[]} values @param {string} [about] */
function oneOf (values, about) {
  return described({ enum: [...values] }, about)
}

/** @param {Schema} items @param {string} [about] @param {number} [most] items */
function listOf (items, about, most) {
  return described({ type: 'array', ...most !== undefined && { maxItems: most }, items }, about)
}

/** An object with any names. @param {Schema} values @param {string} [about] */
function mapOf (values, about) {
  return described({ type: 'object', additionalProperties: values }, about)
}

/** Schemas of fields that may be missing. @type {WeakSet<Schema>} */
const OPTIONAL = new WeakSet()

/** A field that may be missing. @param {Schema} schema @returns {Schema} */
function optional (schema) {
  const own = { ...schema }
  OPTIONAL.add(own)
  return own
}

/** @param {Record<string, Schema>} fields @param {string} [about] */
function record (fields, about) {
  const required = Object.keys(fields).filter(name => !OPTIONAL.has(fields[name]))
  return described({ type: 'object', required, properties: fields }, about)
}

/** A record that has no other fields. @param {Record<string, Schema>} fields @param {string} [about] */
function closed (fields, about) {
  return { ...record(fields, about), additionalProperties: false }
}

/** @param {Schema} schema @param {string} [about] */
function orNull (schema, about) {
  if (schema.enum) return described({ ...schema, enum: [...schema.enum, null] }, about)
  if (schema.properties) return described({ anyOf: [{ type: 'null' }, schema] }, about)
  return described({ ...schema, type: [schema.type, 'null'] }, about)
}

module.exports = {
  text,
  flag,
  number,
  integer,
  count,
  whole,
  ordinal,
  share,
  constant,
  oneOf,
  listOf,
  mapOf,
  optional,
  record,
  closed,
  orNull
}
