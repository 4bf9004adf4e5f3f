'use strict'

/**
 * Moves an idle connection to a sibling, or one with a request that the sibling is to handle instead. The messages are drawn in lib/primary/handoff/ledger.js.
 *
 * Three processes hold the same TCP connection for a moment, and it ends only when the last copy is closed, so it survives
 * the death of any of them. Only one reads: this worker stops before the offer, the primary never starts, the sibling
 * starts on `keep`. Bytes that arrive meanwhile wait in the kernel.
 *
 * For the app the socket closes when it is taken, as if its client had left: the server's count goes down and `close` is
 * emitted. What is left is a bare handle, which no timer and no sweep of the server's can reach. A connection that comes
 * back goes to the inbox of this worker.
 *
 * From its offer until `keep` no process reads a connection, and a request on it waits. An IPC channel carries one handle
 * at a time (Node waits for its acknowledgement), so more offers at once move nothing sooner, and each waits longer. Two
 * keep both channels busy; the other connections are still served.
 *
 * The app hears `close` on a request that moves before the socket leaves, so its handler here has ended before the sibling's
 * begins. What it writes from then on goes nowhere.
 */

const { setImmediate } = require('node:timers')
const { toFields } = require('../connections/parcel')

const WINDOW = 2

/** @typedef {import('../connections/connection').Connection} Connection */

class Handoff {
  /** Offers without an answer yet. @type {Map<number, Connection>} */
  #outstanding = new Map()
  #lastId = 0
  /** Requests that a sibling handles instead of this worker, since the start. */
  replayed = 0

  /** @param {Pick<import('../enter').Parts, 'channel' | 'tracker' | 'inbox'>} parts */
  constructor ({ channel, tracker, inbox }) {
    this.channel = channel
    this.tracker = tracker
    this.inbox = inbox
    /** Called when a sibling has taken a connection. */
    this.onMoved = () => {}
    /** Called when a connection is back in the inbox. @type {(connection: Connection, isStalled: boolean) => void} */
    this.onBack = () => {}
    channel.on({
      moved: ({ id }) => {
        this.#end(id, 'moved')
        this.onMoved()
      },
      back: ({ id, isStalled }) => this.#back(id, isStalled)
    })
  }

  get hasRoom () {
    return this.#outstanding.size < WINDOW && this.channel.isUp
  }

  get isBusy () {
    return this.#outstanding.size > 0
  }

  /** @param {Connection} connection one that is idle, or whose request is replayed */
  offer (connection) {
    const id = ++this.#lastId
    const parcel = this.tracker.take(connection)
    this.#outstanding.set(id, connection)
    const send = () => {
      if (!this.#outstanding.has(id)) return // the primary has exited
      this.channel.send('offer', { id, parcel: toFields(parcel) }, parcel.handle, error => {
        if (error) this.#back(id, false)
      })
    }
    if (parcel.replayed > 0) setImmediate(send) // its socket emits `close` before
    else send()
  }

  /**
   * The primary has exited, and the outcome of these is unknown. A sibling may be reading them by now, so our copies are
   * closed: two readers would be worse than a lost idle connection.
   */
  relinquish () {
    for (const id of [...this.#outstanding.keys()]) this.#end(id, 'unacked')
  }

  /** @param {number} id @param {'moved' | 'unacked'} fate */
  #end (id, fate) {
    const connection = this.#outstanding.get(id)
    if (!connection) return
    this.#outstanding.delete(id)
    connection.fate = fate
    if (fate === 'moved' && connection.parcel && connection.parcel.replayed > 0) this.replayed++
    connection.parcel?.handle.close()
  }

  /** @param {number} id @param {boolean} isStalled */
  #back (id, isStalled) {
    const connection = this.#outstanding.get(id)
    if (!connection?.parcel) return
    this.#outstanding.delete(id)
    this.tracker.adopt(connection, connection.parcel)
    this.inbox.wait(connection)
    this.onBack(connection, isStalled)
  }
}

module.exports = { Handoff }
