'use strict'

/**
 * In the primary: what has become of each connection of a worker that has died. There may be tens of thousands, so
 * they are looked at, and then settled, some in a turn of the event loop.
 */

const net = require('node:net')
const { setImmediate } = require('node:timers/promises')
const { LONGEST_PATH, addCuts } = require('../../core/account')
const { KILLS } = require('../../core/kills')
const { decide, readRequest } = require('./decision')
const { PREFIX_BYTES } = require('./row')
/** @import { Handle } from '../../core/internals' */
/** @import { Descriptor } from '../../native/descriptor' */
/** @import { Cut, Outcome } from '../../core/account' */
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Request } from './decision' */
/** @import { Held, Holdings } from './holdings' */
/** @import { Bytes, Row } from './row' */

/** @typedef {Request & { ageMs: number }} Kept @typedef {Held & { bytes: Bytes | null, request: Kept | null }} Read */

const SLICE = 500 // connections in a turn
const IDLE_MS = 5000 // of a connection whose server has not told

class Settlement {
  /** @type {Outcome} */
  #outcome = { moved: 0, replayed: 0, answered: 0, cut: 0, ended: 0, cuts: [] }
  /** To this moment all ages are counted, so that they have the order in which requests came: ms of CLOCK_MONOTONIC. */
  #now = Number(process.hrtime.bigint()) / 1e6
  /** Connections that go on with the bytes that were read. @type {import('./suspects').Suspect[]} */
  #suspects = []

  /**
   * @param {{ kernel: import('../../primary/parts').Parts, addon: import('../../native/addon').Addon, suspects:
   *   import('./suspects').Suspects }} failover
   * @param {WorkerHandle} worker that is gone @param {Holdings} holdings ours from here on
   */
  constructor ({ kernel, addon, suspects }, worker, holdings) {
    this.kernel = kernel
    this.addon = addon
    this.suspects = suspects
    this.worker = worker
    this.holdings = holdings
  }

  /** @param {(outcome: Outcome) => void} settled called in this turn where one slice is all */
  async run (settled) {
    const { worker, kernel, holdings } = this
    /** @type {Read[]} */
    const all = []
    for (const held of holdings.read()) {
      if (all.length > 0 && all.length % SLICE === 0) await setImmediate()
      all.push(this.#read(held))
    }
    const { killedFor } = worker.process
    const isBlocked = killedFor !== null && KILLS.get(killedFor)?.isStuck === true
    const latest = isBlocked ? latestOf(all.flatMap(({ request }) => request ?? [])) : null
    const blocks = (/** @type {Read} */ { row, request }) =>
      worker.blockedBy === null ? request === latest : row.serial === worker.blockedBy
    for (const [i, read] of all.entries()) {
      if (i > 0 && i % SLICE === 0) await setImmediate()
      this.#settle(read, isBlocked && blocks(read))
    }
    // Of a worker that was killed by its primary the cause is known; and another primary's would not be waited for
    const isSuspicious = killedFor === null && kernel.tenure.isSole && this.#suspects.length > 1
    if (isSuspicious) this.suspects.add(this.#suspects)
    else for (const { give } of this.#suspects) give(new Set())
    holdings.close()
    settled(this.#outcome)
  }

  /** @param {Held} held @returns {Read} */
  #read (held) {
    const counted = this.addon.bytesOf(held.socket.fd)
    const bytes = counted ? { read: counted[0], written: counted[1], unread: counted[2], state: counted[3] } : null
    return { ...held, bytes, request: bytes ? keptOf(this.holdings, held.row, bytes, this.#now) : null }
  }

  /** @param {Read} read @param {boolean} isBlocking its request is not given to another worker */
  #settle ({ socket, row, key, idleMs, preface, bytes, request }, isBlocking) {
    const { kernel, worker } = this
    const outcome = this.#outcome
    const { end, given, deaths, hasLeft } = decide(row, bytes, request, {
      isStopping: kernel.ledger.isEnding && kernel.fleet.serving().length === 0, isBlocking,
      isReplaying: kernel.options.replay === 'safe'
    })
    const isOver = end.startsWith('closed') || (end === 'answered' && hasLeft)
    const counted = isOver ? 'ended' : end === 'reset' ? 'cut' : /** @type {'moved' | 'replayed' | 'answered'} */ (end)
    outcome[counted]++
    if (counted === 'cut' || counted === 'answered') {
      addCuts(outcome, [nameCut(request, peerOf(socket).port, row.deaths)])
    }
    if (end === 'closed') return socket.close()
    if (end === 'moved' || end === 'replayed') {
      const parcel = { key, ...preface && { preface } }
      if (!given || !request) {
        const leftMs = idleMs === undefined ? IDLE_MS : idleMs
        return kernel.ledger.give(worker, row.serial, { ...parcel, leftMs, ...deaths > 0 && { deaths } }, socket)
      }
      const withBytes = { ...parcel, deaths, ...this.#withBytes(given, request, end === 'replayed', socket) }
      const lost = () => this.#answer(socket, row)
      this.#suspects.push({
        socket,
        key,
        ageMs: request.ageMs,
        give: apart => kernel.ledger.give(worker, row.serial, withBytes, socket, { apart, lost })
      })
      return
    }
    if (end === 'reset') {
      this.addon.shut(socket.fd, true)
      return socket.close()
    }
    if (end === 'answered') return this.#answer(socket, row)
    const { handle } = socket
    if (handle) closeGently(handle)
  }

  /** @param {Descriptor} socket ours @param {Row} row */
  #answer (socket, { hasThrown }) {
    const { handle } = socket
    if (handle) answerLast(handle, hasThrown ? 500 : 502)
  }

  /** @param {Buffer} given @param {Kept} request @param {boolean} isReplayed @param {Descriptor} socket */
  #withBytes (given, request, isReplayed, socket) {
    const session = this.#sessionOf(request, socket)
    return {
      leftMs: null, bytes: given.toString('base64'), ...isReplayed && { replayed: 1 },
      ...session !== null && { session }
    }
  }

  /**
   * @param {Kept} request @param {Descriptor} socket
   * @returns {string | null} its worker-to-be is that of its session
   */
  #sessionOf ({ head }, socket) {
    if (head === null) return null
    const { url, headers } = head
    const byName = Object.fromEntries(headers.flatMap((name, i) =>
      i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1]]] : []))
    return this.kernel.features.sessionOf({
      url, headers: byName, socket: { get remoteAddress () { return peerOf(socket).address } }
    })
  }
}

/**
 * @param {Holdings} holdings @param {Row} row @param {Bytes} counted @param {number} now
 * @returns {Kept | null} null: nothing is kept
 */
function keptOf (holdings, row, counted, now) {
  const kept = holdings.keptOf(row, counted)
  if (!kept) return null
  const ageMs = now - kept.readDoubleLE(0)
  return {
    ...readRequest(kept.subarray(PREFIX_BYTES)),
    ageMs: Number.isFinite(ageMs) ? Math.max(0, ageMs) : 0
  }
}

/** Of a worker that was blocked: most likely by this one. @param {Kept[]} requests */
function latestOf (requests) {
  return requests.reduce((/** @type {Kept | null} */ latest, request) =>
    latest === null || request.ageMs < latest.ageMs ? request : latest, null)
}

/** @param {Descriptor} socket @returns {{ address?: string, port?: number }} */
function peerOf (socket) {
  const peer = {}
  socket.handle?.getpeername?.(peer)
  return peer
}

/** @param {Kept | null} request @param {number | null} [remotePort] @param {number} [deaths] @returns {Cut} */
function nameCut (request, remotePort = null, deaths = 0) {
  return {
    method: request?.head ? request.head.method.slice(0, 100) : null,
    path: request?.head ? request.head.url.split('?')[0].slice(0, LONGEST_PATH) : null,
    ageMs: Math.round(request?.ageMs ?? 0),
    remotePort,
    upgraded: false,
    ...deaths > 0 && { deaths }
  }
}

/** Answers the request of a worker that has died, and closes its connection so that the client can read the answer. */

/** @type {Record<502 | 500, string>} */
const REASONS = { 502: 'Bad Gateway', 500: 'Internal Server Error' }
const LINGER_MS = 2000 // for a client that sends its request's body first

/**
 * @param {Handle} handle Node's, of a connection whose request has had no answer
 * @param {keyof typeof REASONS} status 500: the app's code has thrown for it
 */
function answerLast (handle, status) {
  closeGently(handle, `HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/**
 * Closes a connection so that the client can read what was sent to it.
 * @param {Handle} handle Node's @param {string} [text] to be sent before
 */
function closeGently (handle, text = '') {
  const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle, allowHalfOpen: true }))
  const over = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('error', () => {}).on('close', () => clearTimeout(over)).on('end', () => socket.destroy())
  socket.resume() // a close with something unread would reset it
  socket.end(text, 'latin1')
}

module.exports = { Settlement }
