'use strict'

/**
 * Which requests may be handled a second time, by another worker, in place of being cut: safe methods (RFC 9110, 9.2.1)
 * without a body, of which nothing was answered. Whether anything was answered is the worker's to say; see
 * lib/worker/connections/replay.js.
 */

/** How long past its drain deadline a worker moves connections and requests, before it cuts what is left. */
const REPLAY_MS = 10_000

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Each of them says that more than a head is under way. */
const REFUSED = new Set(['expect', 'transfer-encoding', 'upgrade'])
const LONGEST_HEAD = 1_000_000 // a message to the primary has a limit; Node's own for a head is 16 KiB
const TARGET = /^[\x21-\x7e\x80-\xff]+$/
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * @typedef {object} Head a request's, as Node's parser gives it
 * @property {string} method @property {string} url
 * @property {string} version of HTTP, '1.1'
 * @property {readonly string[]} headers names and values in turn, in latin1
 */

/**
 * Whether a worker that gets toWire() of this head sees the same request, and nothing else. A lenient parser takes
 * names and values that another one would read otherwise; and behind so many headers Node leaves out the others, which
 * may announce a body.
 * @param {Head} head @param {object} [how]
 * @param {boolean} [how.isMarked] the app says that its handler may run twice, whatever the method
 * @param {number} [how.mostFields] names and values that the parser keeps; 0: all @returns {boolean}
 */
function isReplaySafe ({ method, url, headers }, { isMarked = false, mostFields = 0 } = {}) {
  if (!(isMarked || SAFE.has(method)) || !TARGET.test(url) || (mostFields > 0 && headers.length >= mostFields)) {
    return false
  }
  let length = 0
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i].toLowerCase(), headers[i + 1]]
    if (!NAME.test(name) || !VALUE.test(value) || REFUSED.has(name) ||
      (name === 'content-length' && !/^0+$/.test(value))) {
      return false
    }
    length += name.length + value.length
  }
  return length < LONGEST_HEAD
}

const OF_BODY = /^(?:transfer-encoding|content-length|upgrade)$/i

/** @param {Head} head @returns {boolean} no body follows it */
function isBodyless ({ headers }) {
  for (let i = 0; i < headers.length; i += 2) {
    const { length } = headers[i] // of few others is it one of these
    if ((length !== 7 && length !== 14 && length !== 17) || !OF_BODY.test(headers[i])) continue
    if (length !== 14 || !/^0+$/.test(headers[i + 1])) return false
  }
  return true
}

/**
 * The head as it goes over the wire: names, order, case, repeats and octets are the client's.
 * @param {Head} head @returns {Buffer}
 */
function toWire ({ method, url, version, headers }) {
  let text = `${method} ${url} HTTP/${version}\r\n`
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  return Buffer.from(text + '\r\n', 'latin1')
}

module.exports = { REPLAY_MS, isReplaySafe, isBodyless, toWire }
