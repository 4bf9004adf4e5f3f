'use strict'

/**
 * The required shape of a value from another process, as data. A shape checks a value: null if it is valid, else which
 * part is wrong and what is accepted there.
 *
 * @typedef {(value: unknown) => Flaw | null} Shape
 *
 * @typedef {object} Flaw
 * @property {string} at path of the part; '': the value itself
 * @property {string} accepts
 */

/** @param {string} accepts @param {(value: any) => boolean} test @returns {Shape} */
function shape (accepts, test) {
  return value => test(value) ? null : { at: '', accepts }
}

const count = shape('a whole number from 0 to 2^53', value => Number.isSafeInteger(value) && value >= 0)
const integer = shape('a whole number', value => Number.isSafeInteger(value))
const number = shape('a number', value => Number.isFinite(value))
const duration = shape('milliseconds, 0 or more', value => Number.isFinite(value) && value >= 0)
const ratio = shape('a number from 0 to 1', value => Number.isFinite(value) && value >= 0 && value <= 1)
const flag = shape('true or false', value => typeof value === 'boolean')

const object = shape('an object', value => typeof value === 'object' && value !== null && !Array.isArray(value))

/** @param {number} most characters @returns {Shape} */
function text (most) {
  return shape(`text of at most ${most} characters`, value => typeof value === 'string' && value.length <= most)
}

/** @param {Shape} inner @returns {Shape} that also accepts null */
function orNull (inner) {
  return value => value === null ? null : or(inner(value), 'null')
}

/** @param {Shape} inner @returns {Shape} that also accepts a missing field */
function optional (inner) {
  return value => value === undefined ? null : or(inner(value), 'nothing')
}

/** @param {Shape} inner @param {number} [most] items @returns {Shape} */
function listOf (inner, most = Infinity) {
  return value => {
    if (!Array.isArray(value)) return { at: '', accepts: 'a list' }
    if (value.length > most) return { at: '', accepts: `a list of at most ${most}` }
    for (const [i, item] of value.entries()) {
      const flaw = inner(item)
      if (flaw) return { ...flaw, at: `[${i}]${flaw.at}` }
    }
    return null
  }
}

/** @param {Shape} inner @param {number} most entries @returns {Shape} of an object with any names */
function mapOf (inner, most) {
  return value => object(value) ?? listOf(inner, most)(Object.values(/** @type {object} */ (value)))
}

/**
 * @param {Record<string, Shape>} fields all that are allowed
 * @param {{ isOpen?: boolean }} [how] `isOpen`: others may be there, too
 * @returns {Shape}
 */
function record (fields, { isOpen = false } = {}) {
  const names = Object.keys(fields)
  return value => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { at: '', accepts: 'an object' }
    for (const name of names) {
      const flaw = fields[name](Object.hasOwn(value, name) ? /** @type {any} */ (value)[name] : undefined)
      if (flaw) return { ...flaw, at: `.${name}${flaw.at}` }
    }
    const stray = isOpen ? undefined : Object.keys(value).find(name => !Object.hasOwn(fields, name))
    // A name may have line ends
    return stray === undefined ? null : { at: `.${JSON.stringify(stray.slice(0, 40)).slice(1, -1)}`, accepts: 'nothing' }
  }
}

/** @param {Flaw | null} flaw @param {string} also @returns {Flaw | null} */
function or (flaw, also) {
  return flaw && { ...flaw, accepts: flaw.at === '' ? `${flaw.accepts}, or ${also}` : flaw.accepts }
}

/**
 * A kind of message.
 *
 * @param {string} what it says
 * @param {Record<string, Shape>} [fields]
 * @param {import('./message').Kind['handle']} [handle]
 * @param {{ isAside?: boolean, isOpen?: boolean }} [how]
 * @returns {import('./message').Kind}
 */
function kind (what, fields = {}, handle = 'none', { isAside = false, isOpen = false } = {}) {
  return { what, names: Object.keys(fields), fields: record(fields, { isOpen }), handle, isAside }
}

module.exports = {
  kind, count, number, integer, duration, ratio, flag, text, orNull, optional, listOf, mapOf, record, object
}
