'use strict'

/**
 * The graceful end of an HTTP/2 session, in the two steps of RFC 9113, 6.8: first a GOAWAY with the highest stream id,
 * so that the client opens no more streams while those on their way are still served; and, when it has had time to
 * arrive, the final one.
 *
 * The first is written to the socket beneath the session. nghttp2 takes any `session.goaway()` for the final one and
 * refuses every stream from then on, and Node does not expose its shutdown notice. A session writes whole frames, so
 * ours is between two of them.
 *
 * Over TLS this is impossible: a TLS socket takes no second write while one is under way, and does not expose whether
 * one is. There the final GOAWAY waits up to five seconds for a moment without streams. Streams that cross it are
 * refused before they are processed (REFUSED_STREAM), and may be sent again: browsers and gRPC do.
 */

const { performance } = require('node:perf_hooks')

const ARRIVES_MS = 1000
const MAX_WAIT_MS = 5000
const FRAME_HEAD = 9
const GOAWAY = 7
const LAST_STREAM_ID = 2 ** 31 - 1

class Goaway {
  #waitUntil = performance.now() + MAX_WAIT_MS
  /** When the notice was sent. @type {number | null} */
  #noticedAt = null

  /** @param {import('../connections/connection').Connection} connection one that carries a session */
  constructor (connection) {
    this.connection = connection
  }

  /** The first GOAWAY has been sent. */
  get hasBegun () {
    return this.#noticedAt !== null
  }

  /** The session closes, or is closed. */
  get isOver () {
    const { session } = this.connection
    return !session || session.destroyed || session.closed
  }

  /** Does what is due by now; called at an interval. */
  step () {
    const { session, secure, socket, exchanges } = this.connection
    if (!session || this.isOver) return
    const now = performance.now()
    if (secure) {
      if (exchanges.length === 0 || now >= this.#waitUntil) session.close()
    } else if (this.#noticedAt === null) {
      this.#noticedAt = now
      socket.write(shutdownNotice())
    } else if (now - this.#noticedAt >= ARRIVES_MS) {
      session.close()
    }
  }
}

/** @returns {Buffer} a GOAWAY frame: length, type, flags, stream 0; last stream id, NO_ERROR */
function shutdownNotice () {
  const payload = 8
  const frame = Buffer.alloc(FRAME_HEAD + payload)
  frame.writeUIntBE(payload, 0, 3)
  frame[3] = GOAWAY
  frame.writeUInt32BE(LAST_STREAM_ID, FRAME_HEAD)
  return frame
}

module.exports = { Goaway }
