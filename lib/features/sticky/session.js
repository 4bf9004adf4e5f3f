'use strict'

/**
 * Which session a request belongs to, and which one a response begins (`--sticky`).
 *
 * @typedef {{ by: 'cookie' | 'query' | 'header' | 'path' | 'ip', name: string }} SessionKey how a session is known;
 *   `name` is '' for ip, a number for path
 *
 * @typedef {object} Asked what is read of a request
 * @property {string} url
 * @property {Record<string, unknown>} headers by name in lower case
 * @property {{ remoteAddress?: string }} socket the client's
 */

const LONGEST = 200 // characters; of a longer one, such as a JWT, the last ones: they have its signature
const HANDSHAKE = 1000 // characters of a body in which a new session is looked for

/**
 * @param {string} text `cookie:NAME`, `query:NAME`, `header:NAME`, `path:n` or `ip`
 * @returns {SessionKey | undefined} undefined: it is none of these
 */
function parseSessionKey (text) {
  if (text === 'ip') return { by: 'ip', name: '' }
  if (/^path:[1-9]\d?$/.test(text)) return { by: 'path', name: text.slice(5) }
  const [, by, name] = /^(cookie|query|header):([\w!#$%&'*+.^`|~-]{1,100})$/.exec(text) ?? []
  if (by === undefined) return undefined
  return { by: /** @type {SessionKey['by']} */ (by), name: by === 'header' ? name.toLowerCase() : name }
}

/** @param {SessionKey} key @param {Asked} asked @returns {string | null} null: it belongs to none yet */
function sessionOf ({ by, name }, { url, headers, socket }) {
  if (by === 'ip') return socket.remoteAddress ?? null
  if (by === 'header') return bounded(headers[name])
  if (by === 'path') return bounded(url.split('?', 1)[0].split('/', Number(name) + 1)[Number(name)])
  if (by === 'cookie') return bounded(valueAt(headers.cookie, name, ';'))
  const question = url.indexOf('?')
  return question === -1 ? null : bounded(valueAt(url.slice(question + 1), name, '&'))
}

/**
 * The session that a response begins or renews: by its `Set-Cookie`, by its header of the same name, or, for `query`,
 * by a JSON member of that name at the begin of its body, as in engine.io's handshake, or by a URL in a stream of
 * events, as MCP's over SSE.
 * @param {SessionKey} key @param {string} head status line and header lines, in latin1 @param {string} body its begin
 * @returns {string | null}
 */
function sessionBegunIn ({ by, name }, head, body) {
  if (by === 'cookie') {
    if (!head.includes(`${name}=`)) return null // most responses set none
    for (const [, line] of head.matchAll(/^set-cookie:[ \t]*(.*?)\r?$/gim)) {
      const value = valueAt(line.split(';', 1)[0], name, ';')
      if (value !== null) return bounded(value)
    }
  }
  if (by === 'header') return bounded(new RegExp(`^${literal(name)}:[ \\t]*(.*?)[ \\t]*\\r?$`, 'im').exec(head)?.[1])
  if (by !== 'query') return null
  const start = body.slice(0, HANDSHAKE)
  const isStream = /^content-type:[ \t]*text\/event-stream/im.test(head)
  return bounded(isStream
    ? new RegExp(`^data:.*[?&]${literal(name)}=([^&#\\s]+)`, 'm').exec(start)?.[1]
    : new RegExp(`"${literal(name)}"\\s*:\\s*"([^"\\\\]+)"`).exec(start)?.[1])
}

/**
 * @param {unknown} list name=value pairs @param {string} name @param {string} separator
 * @returns {string | null} the first of this name
 */
function valueAt (list, name, separator) {
  if (typeof list !== 'string') return null
  for (let at = list.indexOf(name); at !== -1; at = list.indexOf(name, at + 1)) {
    if (list[at + name.length] !== '=' || !begins(list, at, separator)) continue
    const end = list.indexOf(separator, at)
    return list.slice(at + name.length + 1, end === -1 ? undefined : end).trim()
  }
  return null
}

/** @param {string} list @param {number} at @param {string} separator @returns {boolean} a pair begins there */
function begins (list, at, separator) {
  while (at > 0 && list[at - 1] === ' ') at--
  return at === 0 || list[at - 1] === separator
}

/** @param {unknown} session @returns {string | null} */
function bounded (session) {
  if (typeof session !== 'string' || session === '') return null
  return session.slice(-LONGEST)
}

/** @param {string} text */
const literal = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

module.exports = { LONGEST, parseSessionKey, sessionOf, sessionBegunIn, bounded }
