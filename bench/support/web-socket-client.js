'use strict'

/**
 * A WebSocket client that sends its frames byte by byte, as it is told. It speaks RFC 6455 without extensions, and
 * never connects again.
 */

const { randomBytes } = require('node:crypto')
const { EventEmitter, once } = require('node:events')
const net = require('node:net')

const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 }

/** Emits `message` (a Buffer), `pong` (a Buffer) and `end` (the code of a close frame, or null). */
class WebSocketClient extends EventEmitter {
  /** Messages that no call of next() has taken. @type {Buffer[]} */
  inbox = []
  isEnded = false
  /** @type {number | null} of a close frame */
  code = null
  /** @type {Buffer} */
  #rest = Buffer.alloc(0)
  /** @type {Buffer[]} */
  #fragments = []

  /**
   * @param {net.Socket} socket whose upgrade has been answered @param {string} head of the response
   * @param {Buffer} rest
   */
  constructor (socket, head, rest) {
    super()
    this.setMaxListeners(0)
    this.socket = socket
    this.head = head
    this.localPort = socket.localPort
    socket.on('data', chunk => this.#receive(chunk))
    socket.on('error', () => {})
    socket.on('end', () => this.#end())
    socket.on('close', () => this.#end())
    this.#receive(rest)
  }

  /**
   * @param {number} port @param {string} [path] @param {string[]} [headers]
   * @returns {Promise<WebSocketClient>}
   * @throws {Error} where the upgrade is refused
   */
  static async connect (port, path = '/', headers = []) {
    const socket = net.connect(port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    socket.write([`GET ${path} HTTP/1.1`, 'Host: here', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`, ...headers, '', ''].join('\r\n'))
    let bytes = Buffer.alloc(0)
    while (!bytes.includes('\r\n\r\n')) {
      const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'end').then(() => [null])])
      if (chunk === null) throw new Error(`the upgrade was not answered: ${bytes}`)
      bytes = Buffer.concat([bytes, chunk])
    }
    const end = bytes.indexOf('\r\n\r\n') + 4
    const head = bytes.toString('latin1', 0, end)
    if (!head.startsWith('HTTP/1.1 101 ')) throw new Error(`the upgrade was refused: ${head.split('\r\n', 1)[0]}`)
    socket.removeAllListeners('end')
    return new WebSocketClient(socket, head, bytes.subarray(end))
  }

  /** @param {string | Buffer} data @param {{ opcode?: keyof typeof OPCODES, isFinal?: boolean }} [how] */
  send (data, how) {
    return this.write(frame(data, how))
  }

  /** @param {Buffer} bytes of frames */
  write (bytes) {
    this.socket.write(bytes)
    return this
  }

  /** @returns {Promise<Buffer | null>} the next message; null: the connection has ended */
  async next () {
    while (this.inbox.length === 0 && !this.isEnded) await new Promise(resolve => { this.once('message', resolve).once('end', resolve) })
    return this.inbox.shift() ?? null
  }

  /** @param {string} [data] @returns {Promise<string | null>} what the pong has; null: the connection has ended */
  async ping (data = 'here') {
    const pong = new Promise(resolve => { this.once('pong', resolve).once('end', () => resolve(null)) })
    this.send(data, { opcode: 'ping' })
    const answer = await pong
    return answer && String(answer)
  }

  destroy () {
    this.socket.destroy()
  }

  /** @param {Buffer} chunk */
  #receive (chunk) {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let frame; (frame = parse(this.#rest));) {
      this.#rest = this.#rest.subarray(frame.length)
      const { opcode, isFinal, data } = frame
      if (opcode === OPCODES.pong) this.emit('pong', data)
      else if (opcode === OPCODES.ping) this.send(data, { opcode: 'pong' })
      else if (opcode === OPCODES.close) this.code = data.length >= 2 ? data.readUInt16BE(0) : 1005
      else {
        this.#fragments.push(data)
        if (!isFinal) continue
        const message = Buffer.concat(this.#fragments.splice(0))
        this.inbox.push(message)
        this.emit('message', message)
      }
    }
  }

  #end () {
    if (this.isEnded) return
    this.isEnded = true
    this.socket.destroy()
    this.emit('end', this.code)
  }
}

/**
 * @param {string | Buffer} data @param {{ opcode?: keyof typeof OPCODES, isFinal?: boolean }} [how]
 * @returns {Buffer} masked, as a client's are
 */
function frame (data, { opcode = typeof data === 'string' ? 'text' : 'binary', isFinal = true } = {}) {
  const payload = Buffer.from(data)
  const { length } = payload
  const size = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  size[0] = (isFinal ? 0x80 : 0) | OPCODES[opcode]
  size[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (size.length === 4) size.writeUInt16BE(length, 2)
  if (size.length === 10) size.writeBigUInt64BE(BigInt(length), 2)
  const mask = randomBytes(4)
  for (let i = 0; i < length; i++) payload[i] ^= mask[i & 3]
  return Buffer.concat([size, mask, payload])
}

/**
 * @param {Buffer} bytes from the server
 * @returns {{ opcode: number, isFinal: boolean, data: Buffer, length: number } | null} null: it is not whole
 */
function parse (bytes) {
  if (bytes.length < 2) return null
  const short = bytes[1] & 0x7f
  const from = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < from) return null
  const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < from + size) return null
  return {
    opcode: bytes[0] & 0x0f,
    isFinal: (bytes[0] & 0x80) !== 0,
    data: bytes.subarray(from, from + size),
    length: from + size
  }
}

module.exports = { WebSocketClient, frame }
