'use strict'

/**
 * A graceful end of an HTTP/2 session, in the two steps of RFC 9113, 6.8: a GOAWAY that names the highest stream id there
 * is, so that the client opens no more streams while those on their way are still served; and, once that has had time to
 * arrive, the final one.
 *
 * The first is written to the socket beneath the session. By `session.goaway()` nghttp2 takes it for the final one,
 * whatever id it names, and refuses every stream from then on; its own shutdown notice, Node does not reach. A write of
 * ours stands between whole frames, since a session hands its frames over whole.
 *
 * Over TLS that cannot be: a TLS socket takes no second write while one is under way, and does not say whether one is.
 * There the final GOAWAY waits for a moment without streams, for a while. Streams that cross it are refused before they
 * are processed (REFUSED_STREAM), which a client may safely send again, and browsers and gRPC do.
 */

const { performance } = require('node:perf_hooks')

const ARRIVES_MS = 1000
const PATIENCE_MS = 5000
const FRAME_HEAD = 9
const GOAWAY = 7
const LAST_STREAM_ID = 2 ** 31 - 1

class Goaway {
  #patientUntil = performance.now() + PATIENCE_MS
  /** When the notice was sent. @type {number | null} */
  #noticedAt = null

  /** @param {import('../connections/connection').Connection} connection one that carries a session */
  constructor (connection) {
    this.connection = connection
  }

  /** The client has been told. */
  get hasBegun () {
    return this.#noticedAt !== null
  }

  /** Nothing is left to be said. */
  get isOver () {
    const { session } = this.connection
    return !session || session.destroyed || session.closed
  }

  /** Does what is to be done by now; called every so often. */
  step () {
    const { session, secure, socket, exchanges } = this.connection
    if (!session || this.isOver) return
    const now = performance.now()
    if (secure) {
      if (exchanges.length === 0 || now >= this.#patientUntil) session.close()
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
