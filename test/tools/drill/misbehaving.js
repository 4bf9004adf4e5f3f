'use strict'

/**
 * A server on bare sockets that misbehaves by a script and records, for every request received, its action and the
 * port of the client. The counts of the load are compared with these records.
 */

const net = require('node:net')

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** The possible actions, and the error that the client must report; null: an answer. */
const ACTIONS = {
  answer: { error: null, act: socket => socket.write(OK) },
  answerAfterHints: { error: null, act: socket => socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${OK}`) },
  answerInChunks: {
    error: null,
    act: socket => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n')
      setTimeout(() => socket.write('0\r\n\r\n'), 5)
    }
  },
  noContent: { error: null, act: socket => socket.write('HTTP/1.1 204 No Content\r\n\r\n') },
  notModified: { error: null, act: socket => socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n') },
  answerUntilClose: { error: null, closes: true, act: socket => socket.end('HTTP/1.0 200 OK\r\n\r\nok') },
  announceClose: { error: null, announces: true, act: socket => socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok') },
  announceAndClose: { error: null, closes: true, act: socket => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok') },
  // Closed between requests, unannounced. A request sent on it all the same is read, and not answered.
  closeAfterwards: { error: null, closes: true, act: socket => socket.end(OK) },
  reset: { error: 'reset', closes: true, act: socket => socket.resetAndDestroy() },
  resetDuring: {
    error: 'reset',
    closes: true,
    act: socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok', () => socket.resetAndDestroy())
  },
  closeBefore: { error: 'closed-before-response', closes: true, act: socket => socket.end() },
  closeInHead: { error: 'closed-during-response', closes: true, act: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Le') },
  closeBeforeLength: { error: 'closed-during-response', closes: true, act: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok') },
  closeAfterHeadOnly: { error: 'closed-during-response', closes: true, act: socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n') },
  closeInChunks: { error: 'closed-during-response', closes: true, act: socket => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n') },
  closeAfterHints: { error: 'closed-during-response', closes: true, act: socket => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n') },
  wrongStatus: { error: 'status', act: socket => socket.write('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno') },
  redirectToNowhere: { error: null, act: socket => socket.write('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n') },
  nonsense: { error: 'HPE_INVALID_CONSTANT', closes: true, act: socket => socket.end('SMTP is another protocol\r\n\r\n') },
  silence: { error: 'timeout', act: () => {} },
  silenceAfterHead: { error: 'timeout', act: socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok') }
}

class Misbehaving {
  /** The action for every request. @type {{ action: string, error: string | null, remotePort: number }[]} */
  books = []
  connections = 0
  /** Requests that came on a connection after its `Connection: close` was answered. */
  dishonoured = 0
  /** @type {Set<net.Socket>} */
  sockets = new Set()
  /** @type {(() => void) | null} */
  #onSeen = null
  #until = Infinity

  /** @param {(n: number) => string} script the action for the nth request, from 0: a key of ACTIONS */
  constructor (script) {
    this.script = script
    this.server = net.createServer({ allowHalfOpen: true }, socket => this.#serve(socket))
  }

  /** @returns {Promise<import('../../../lib/tools/drill/target').Target>} */
  async listen () {
    await new Promise(resolve => this.server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {net.AddressInfo} */ (this.server.address())
    return { url: `http://127.0.0.1:${port}`, secure: false, host: '127.0.0.1', port, socketPath: null }
  }

  /** Resolves when it has been sent `count` requests. @param {number} count */
  async seen (count) {
    this.#until = count
    if (this.books.length < count) await new Promise(resolve => { this.#onSeen = () => resolve(undefined) })
  }

  close () {
    for (const socket of this.sockets) socket.destroy()
    this.server.close()
  }

  /** @param {net.Socket} socket */
  #serve (socket) {
    this.connections++
    this.sockets.add(socket)
    const remotePort = /** @type {number} */ (socket.remotePort)
    let text = ''
    let isClosed = false
    let isAnnounced = false
    socket.on('error', () => {})
    socket.on('close', () => this.sockets.delete(socket))
    socket.on('end', () => socket.end())
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      for (;;) {
        const end = endOfRequest(text)
        if (end < 0) return
        text = text.slice(end)
        if (isAnnounced) this.dishonoured++
        const action = isClosed ? 'closeBefore' : this.script(this.books.length)
        const { error, act, closes = false, announces = false } = ACTIONS[action]
        this.books.push({ action: isClosed ? 'sentAfterClose' : action, error, remotePort })
        if (!isClosed) act(socket)
        isClosed ||= closes
        isAnnounced ||= announces
        if (this.books.length >= this.#until) this.#onSeen?.()
      }
    })
  }
}

/** @param {string} text */
function endOfRequest (text) {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return -1
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, head))?.[1] ?? 0)
  return text.length >= head + 4 + length ? head + 4 + length : -1
}

module.exports = { Misbehaving, ACTIONS }
