'use strict'

/**
 * A client: one keep-alive connection, on which it joins and then polls for ever. It acknowledges each sprite by its
 * next poll, and counts what is not as it should be.
 */

const net = require('node:net')
const { nowMs } = require('./now')

const RETRY_MS = 100
const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: (\d+)/i

/** Bytes of all sockets are read into it in turn: each is looked at before the next. */
const buffer = Buffer.alloc(64 * 1024)

/**
 * @typedef {{ opened: number, joined: number, received: number, repeated: number, missing: number, dropped: number,
 *   reconnects: number, failures: Record<string, number>, latencies: number[], onJoined: () => void }} Counts
 */

class Desktop {
  id = ''
  ack = 0
  #rest = ''
  #isAsking = false
  #isClosed = false
  /** @type {net.Socket | null} */
  #socket = null

  /** @param {{ host: string, port: number }} server @param {Counts} counts */
  constructor (server, counts) {
    this.server = server
    this.counts = counts
  }

  open () {
    const socket = this.#socket = net.connect(/** @type {any} */ ({
      ...this.server,
      noDelay: true,
      onread: {
        buffer,
        callback: (/** @type {number} */ length) => {
          this.#read(buffer.latin1Slice(0, length))
          return true
        }
      }
    }))
    socket.on('connect', () => {
      this.counts.opened++
      this.#ask()
    })
    socket.on('error', error => this.#fail(/** @type {NodeJS.ErrnoException} */ (error).code ?? error.message))
    socket.on('close', () => this.#closed())
  }

  close () {
    this.#isClosed = true
    this.#socket?.destroy()
  }

  #ask () {
    this.#isAsking = true
    this.#socket?.write(this.id
      ? `GET /poll?id=${this.id}&ack=${this.ack} HTTP/1.1\r\nHost: sprites\r\n\r\n`
      : 'POST /join HTTP/1.1\r\nHost: sprites\r\nContent-Length: 0\r\n\r\n')
  }

  /** @param {string} text */
  #read (text) {
    const all = this.#rest + text
    const end = all.indexOf(HEAD_END)
    const length = Number(LENGTH.exec(all)?.[1])
    if (end === -1 || all.length < end + HEAD_END.length + length) {
      this.#rest = all
      return
    }
    this.#rest = ''
    this.#isAsking = false
    const status = Number(all.slice(9, 12))
    if (status >= 300) {
      this.counts.dropped++
      this.#fail(String(status))
    } else {
      this.#take(JSON.parse(all.slice(end + HEAD_END.length)))
    }
    this.#ask()
  }

  /** @param {{ id?: string, sprites?: { number: number, sprite: { at: number } }[] }} answer */
  #take ({ id, sprites = [] }) {
    if (id) {
      this.id = id
      this.counts.joined++
      this.counts.onJoined()
    }
    const now = nowMs()
    for (const { number, sprite: { at } } of sprites) {
      if (number <= this.ack) {
        this.counts.repeated++
        continue
      }
      this.counts.missing += number - this.ack - 1
      this.ack = number
      this.counts.received++
      this.counts.latencies.push(Math.round((now - at) * 10) / 10)
    }
  }

  #closed () {
    if (this.#isClosed) return
    if (this.#isAsking) this.counts.dropped++
    this.counts.reconnects++
    this.#rest = ''
    this.#isAsking = false
    setTimeout(() => { if (!this.#isClosed) this.open() }, RETRY_MS)
  }

  /** @param {string} what */
  #fail (what) {
    this.counts.failures[what] = (this.counts.failures[what] ?? 0) + 1
  }
}

module.exports = { Desktop }
