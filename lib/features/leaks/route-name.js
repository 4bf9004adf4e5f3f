'use strict'

/**
 * The route of a request as far as its URL tells: the path without its query, with a placeholder for each part that
 * looks like an id, so that /users/17 and /users/18 are one route. A worker counts by a hash of it for every request,
 * and makes the text once for each route: the hash is computed in one pass, and allocates nothing.
 */

const PLACEHOLDER = ':id'
const LONGEST_PATH = 120 // characters that are looked at
const LONGEST_WORD = 32
const SHORTEST_HEX = 8
const SHORTEST_MIXED = 16

const SLASH = 47
const DOT = 46
const QUESTION = 63
const NUMBER_SIGN = 35
const PRIME = 16777619 // of FNV-1a
const ID = 0x1d

/** @param {string} text @param {number} [seed] the hash of what comes before @returns {number} 32 bits */
function textHash (text, seed = PRIME) {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME)
  return hash
}

/**
 * The same for two URLs of one template.
 *
 * @param {string} url as the first line of a request has it @param {number} seed
 * @returns {number} 32 bits
 */
function pathHash (url, seed) {
  const length = Math.min(url.length, LONGEST_PATH)
  let hash = seed
  let before = seed
  let from = 0
  let digits = 0
  let letters = 0
  let others = 0
  for (let at = 0; at <= length; at++) {
    const code = at < length ? url.charCodeAt(at) : QUESTION
    if (code >= 48 && code <= 57) digits++
    else if (code === SLASH || code === DOT || code === QUESTION || code === NUMBER_SIGN) {
      if (isId(at - from, digits, letters, others)) hash = Math.imul(before ^ ID, PRIME)
      if (code === QUESTION || code === NUMBER_SIGN) return hash
      before = hash = Math.imul(hash ^ code, PRIME)
      from = at + 1
      digits = letters = others = 0
      continue
    } else if ((code >= 97 && code <= 102) || (code >= 65 && code <= 70)) letters++
    else if (code !== 45 && code !== 95 && code !== 44 && code !== 58) others++ // - _ , : may stand between digits
    hash = Math.imul(hash ^ code, PRIME)
  }
  return hash
}

/** @param {string} url @returns {string} */
function pathTemplate (url) {
  const [path] = url.slice(0, LONGEST_PATH).split(/[?#]/)
  return path.replace(/[^/.]+/g, part => {
    const count = (/** @type {RegExp} */ kind) => part.match(kind)?.length ?? 0
    return isId(part.length, count(/\d/g), count(/[a-f]/gi), count(/[^\da-f,:_-]/gi)) ? PLACEHOLDER : part
  }) || '/'
}

/**
 * A number, a date, a UUID, a hexadecimal id, or any long word. "v2", "oauth2" and "facade" are none.
 *
 * @param {number} length of a part between slashes and dots
 * @param {number} digits @param {number} letters those of hexadecimal numbers
 * @param {number} others all but these and - _ , :
 */
function isId (length, digits, letters, others) {
  if (length > LONGEST_WORD) return true
  if (digits === 0) return false
  if (others > 0) return digits > 1 && length >= SHORTEST_MIXED
  return letters === 0 || length >= SHORTEST_HEX
}

module.exports = { textHash, pathHash, pathTemplate }
