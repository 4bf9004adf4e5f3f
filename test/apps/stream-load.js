'use strict'

/**
 * HTTP/2 clients, each with a session and several streams at once. They open a new session after `goaway`, and send
 * again the streams that the server refused (REFUSED_STREAM; RFC 9113, 8.7); anything else is a failure.
 * Over cleartext the server need not refuse any: only a stream that Node's own client holds back, because it has
 * just read the first GOAWAY, is repeated.
 */

const http2 = require('node:http2')
const { once } = require('node:events')

class StreamLoad {
  requests = 0
  /** @type {any[]} */
  failures = []
  sessions = 0
  isStopping = false

  /** @param {string} url @param {{ sessions: number, streams: number }} how */
  constructor (url, { sessions, streams }) {
    this.url = url
    this.isSecure = url.startsWith('https')
    this.clients = Array.from({ length: sessions }, () => this.#client(streams))
  }

  async stop () {
    this.isStopping = true
    await Promise.all(this.clients)
    const { requests, failures } = this
    return { requests, failures }
  }

  /** @param {number} streams */
  async #client (streams) {
    /** @type {any} */
    let current = null
    const session = () => {
      if (current === null || current.goaways > 0 || current.session.closed) {
        current?.session.close()
        current = this.#open()
      }
      return current
    }
    const lane = async () => {
      while (!this.isStopping) await this.#request(session())
    }
    await Promise.all(Array.from({ length: streams }, lane))
    current?.session.destroy()
  }

  #open () {
    const session = http2.connect(this.url, { rejectUnauthorized: false })
    const opened = { session, goaways: 0 }
    session.on('goaway', () => { opened.goaways++ })
    session.on('error', error => this.failures.push(`session: ${error.message}`))
    this.sessions++
    return opened
  }

  /** @param {{ session: http2.ClientHttp2Session, goaways: number }} opened */
  async #request (opened) {
    try {
      const stream = opened.session.request({ ':path': '/' })
      stream.end()
      const [headers] = await once(stream, 'response')
      let body = ''
      for await (const chunk of stream.setEncoding('utf8')) body += chunk
      if (headers[':status'] !== 200 || body !== 'ok') this.failures.push({ status: headers[':status'], body })
      this.requests++
    } catch (error) {
      await new Promise(setImmediate)
      const mayRepeat = this.isSecure || opened.goaways === 1
      if (!(mayRepeat && /REFUSED_STREAM/.test(/** @type {Error} */ (error).message))) this.failures.push(/** @type {Error} */ (error).message)
    }
  }
}

module.exports = { StreamLoad }
