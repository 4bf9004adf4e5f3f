'use strict'

/** Sentences of a blocked event loop. */

/** @import { Where } from './primary' */

const FRAME = /^(?:(?:async )?(.*?) \((.*)\)|(?:async )?(.*))$/ // of a function, or of none
const LOCATION = /^(?:file:\/\/)?(.+):(\d+):\d+$/

/**
 * The innermost function of the app, or of a package of its.
 * @param {readonly string[] | null | undefined} stack frames as Error.stack has them, without their `at`
 * @returns {string | null} a function and the file's last name, or its path in its package; null: none is known
 */
function placeOf (stack) {
  for (const frame of stack ?? []) {
    const [, fn, inside, alone] = FRAME.exec(frame) ?? []
    const [, file, line] = LOCATION.exec(inside ?? alone ?? '') ?? []
    if (file === undefined || file.startsWith('node:')) continue
    const name = file.split(/[\\/]node_modules[\\/]/).slice(1).at(-1) ?? file.split(/[\\/]/).at(-1)
    return fn ? `${fn.replace(/^Object\./, '')} (${name}:${line})` : `${name}:${line}`
  }
  return null
}

/** @param {readonly string[] | null | undefined} stack */
function sayPlace (stack) {
  const place = placeOf(stack)
  return place === null ? '' : `, at ${place}`
}

/** @param {Partial<Pick<Where, 'request' | 'requests'>>} line with the request whose code runs, or those in flight */
function sayRequests ({ request, requests }) {
  if (typeof request === 'string') return ` in ${request}`
  const names = (Array.isArray(requests) ? requests : []).map(({ request }) => request)
  if (names.length === 0) return ''
  return ` with ${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''} in flight`
}

module.exports = { placeOf, sayPlace, sayRequests }
