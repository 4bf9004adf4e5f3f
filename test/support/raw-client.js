'use strict'

/**
 * One TCP (or TLS, or unix) connection that sends HTTP/1 byte by byte, as the test says: partial requests, several
 * at once, a reader that pauses. The bytes received are parsed into responses.
 */

const fs = require('node:fs')
const net = require('node:net')
const tls = require('node:tls')
const { EventEmitter, once } = require('node:events')
const { inetSocket } = require('../../lib/native/proc')

const PATIENCE_MS = 30_000
const HEAD_END = '\r\n\r\n'

/**
 * @typedef {object} Response
 * @property {string} version '1.1'
 * @property {number} status
 * @property {Record<string, string>} headers by name in lower case
 * @property {Buffer} body
 */

class RawClient extends EventEmitter {
  /** Complete responses, 1xx ones among them, in order of arrival. @type {Response[]} */
  responses = []
  /** The server has closed (FIN), or the connection has ended altogether. */
  isEnded = false
  isClosed = false
  /** What is asked next is answered with a head alone. */
  isHead = false
  /** The last response had no length, and a reset came in place of its end: it may be a part. */
  isCutShort = false
  /** Code of the error that ended it, such as ECONNRESET. @type {string | null} */
  error = null
  /** When the server closed, ms since the epoch. @type {number | null} */
  endedAt = null
  /** Received bytes that are not parsed yet. */
  #rest = Buffer.alloc(0)
  /** The response that is being received. @type {any} */
  #partial = null

  /** @param {net.Socket} socket connected */
  constructor (socket) {
    super()
    this.setMaxListeners(0)
    this.socket = socket
    this.localPort = socket.localPort
    socket.on('data', chunk => this.#receive(chunk))
    socket.on('error', error => { this.error ??= /** @type {any} */ (error).code ?? error.message })
    socket.on('end', () => {
      if (this.#partial?.body === 'until-close') this.isCutShort = wasReset(socket)
      this.#end()
    })
    socket.on('close', () => {
      this.isClosed = true
      this.#end()
    })
  }

  /**
   * @param {number | import('node:net').NetConnectOpts | import('node:tls').ConnectionOptions} where a port of
   *   127.0.0.1, or more
   * @param {{ secure?: boolean }} [how]
   * @returns {Promise<RawClient>} when it is connected
   */
  static async connect (where, { secure = false } = {}) {
    const options = /** @type {any} */ (typeof where === 'number' ? { port: where, host: '127.0.0.1' } : where)
    const socket = secure ? tls.connect({ rejectUnauthorized: false, ...options }) : net.connect(options)
    await once(socket, secure ? 'secureConnect' : 'connect')
    socket.setNoDelay(true)
    return new RawClient(socket)
  }

  /** @param {string | Buffer} bytes */
  send (bytes) {
    this.socket.write(bytes)
    return this
  }

  /** A whole request without a body. @param {string} path @param {string[]} headers */
  get (path, ...headers) {
    return this.send(head('GET', path, ...headers))
  }

  /**
   * Resolves when `count` responses have arrived in all.
   *
   * @param {number} count
   * @returns {Promise<Response[]>} the first `count`
   * @throws where the connection ends before, or nothing comes for half a minute
   */
  async received (count) {
    await this.#until(() => this.responses.length >= count || this.isEnded, `${count} responses`)
    if (this.responses.length >= count) return this.responses.slice(0, count)
    throw new Error(`the connection of port ${this.localPort} ended (${this.error ?? 'FIN'}) after ${this.responses.length} of ${count} responses`)
  }

  /**
   * The next response that has not come yet.
   *
   * @param {string} path @param {string[]} headers
   * @returns {Promise<Response>}
   */
  async fetch (path, ...headers) {
    const count = this.responses.length + 1
    this.get(path, ...headers)
    return (await this.received(count))[count - 1]
  }

  /** Resolves when the server has closed. */
  async ended () {
    await this.#until(() => this.isEnded, 'its end')
  }

  pause () {
    this.socket.pause()
  }

  resume () {
    this.socket.resume()
  }

  /** Closes, and resolves when the socket is closed. */
  async close () {
    this.socket.destroy()
    if (!this.isClosed) await once(this.socket, 'close')
  }

  /** @param {() => boolean} isSo @param {string} what */
  async #until (isSo, what) {
    if (isSo()) return
    await new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        this.removeListener('change', look)
        resolve(undefined)
      }
      const timer = setTimeout(() => {
        this.removeListener('change', look)
        reject(new Error(`port ${this.localPort} waited ${PATIENCE_MS} ms for ${what}; it has ${this.responses.length} responses`))
      }, PATIENCE_MS)
      this.on('change', look)
    })
  }

  #end () {
    if (this.isEnded) return
    this.isEnded = true
    this.endedAt = Date.now()
    if (this.#partial?.body === 'until-close' && this.error === null) this.#finish()
    this.emit('change')
  }

  /** @param {Buffer} chunk */
  #receive (chunk) {
    this.#rest = this.#rest.length ? Buffer.concat([this.#rest, chunk]) : chunk
    const before = this.responses.length
    while (this.#rest.length > 0 && this.#step());
    this.emit('data')
    if (this.responses.length > before) this.emit('change')
  }

  /** @returns {boolean} whether it made progress and may make more */
  #step () {
    if (this.#partial === null) return this.#readHead()
    if (this.#partial.body === 'chunked') return this.#readChunk()
    const part = this.#take(Math.min(this.#partial.left, this.#rest.length))
    this.#partial.parts.push(part)
    this.#partial.left -= part.length
    if (this.#partial.left === 0) this.#finish()
    return true
  }

  #readHead () {
    const end = this.#rest.indexOf(HEAD_END)
    if (end === -1) return false
    const [line, ...fields] = this.#take(end + HEAD_END.length).toString('latin1').trimEnd().split('\r\n')
    const [, version, status] = /^HTTP\/(\d\.\d) (\d{3})/.exec(line) ?? [undefined, '?', '0']
    const headers = Object.fromEntries(fields.map(field => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    }))
    this.#partial = { version, status: Number(status), headers, parts: [], left: Infinity, body: 'until-close' }
    const hasNoBody = this.isHead || status[0] === '1' || status === '204' || status === '304'
    if (hasNoBody) Object.assign(this.#partial, { body: 'none', left: 0 })
    else if (headers['transfer-encoding'] === 'chunked') this.#partial.body = 'chunked'
    else if (headers['content-length'] !== undefined) Object.assign(this.#partial, { body: 'length', left: Number(headers['content-length']) })
    if (this.#partial.left === 0) this.#finish()
    return true
  }

  #readChunk () {
    const end = this.#rest.indexOf('\r\n')
    if (end === -1) return false
    const length = parseInt(this.#rest.toString('latin1', 0, end), 16)
    if (this.#rest.length < end + 2 + length + 2) return false
    this.#take(end + 2)
    this.#partial.parts.push(this.#take(length))
    this.#take(2)
    if (length === 0) this.#finish()
    return true
  }

  #finish () {
    const { version, status, headers, parts } = this.#partial
    this.#partial = null
    this.responses.push({ version, status, headers, body: Buffer.concat(parts) })
  }

  /** @param {number} length */
  #take (length) {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

/**
 * Whether the end of a connection was a reset. Node.js 20 says 'end' where bytes and a reset have come since it last
 * looked; the kernel has no such socket any more, and one whose server has closed in CLOSE_WAIT.
 * @param {net.Socket} socket
 */
function wasReset ({ localFamily, localPort, remotePort }) {
  const table = '/proc/self/net/tcp'
  if (localFamily !== 'IPv4' || !fs.existsSync(table)) return false
  return !fs.readFileSync(table, 'latin1').split('\n').map(inetSocket)
    // Another connection may have the same port of ours: it goes elsewhere
    .some(row => row?.port === localPort && parseInt(row.remote.split(':')[1], 16) === remotePort)
}

/** @param {string} method @param {string} path @param {string[]} headers */
function head (method, path, ...headers) {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
}

/**
 * Resolves when the one worker behind a port has accepted and read all that was sent before this call: a request on
 * a connection of its own, three times, is served in later turns of its event loop.
 *
 * @param {number | import('node:net').NetConnectOpts} where
 */
async function settled (where) {
  const client = await RawClient.connect(where)
  for (let i = 0; i < 3; i++) await client.fetch('/')
  const count = client.responses.length + 1
  client.get('/', 'Connection: close')
  await client.received(count)
  await client.ended()
}

module.exports = { RawClient, head, settled }
