'use strict'

/**
 * In a worker: asks the app what a connection can go with, and gives the app those that come. The rest is the hand-off
 * of any connection.
 */

const { deserialize, serialize } = require('node:v8')
const { Trails } = require('./trails')
/** @import { Connection } from '../../worker/connections/connection' */
/** @import { Socket } from 'node:net' */

const LONGEST_KIND = 100 // as lib/tables/message.js has it
const MOST_STATE = 1_000_000 // bytes
const MOST_UNREAD = 1_000_000
const NOTHING = Buffer.alloc(0)

/**
 * @typedef {{ state?: unknown, unread?: Buffer, onLeave?: () => void, follow?: import('./trails').Follow }} Given by
 *   the app; `unread`: what the app has read, and not made use of; `follow`: the app goes on to see it as open
 *
 * @typedef {object} How
 * @property {boolean} [rebalance] false: it goes only when this worker leaves, and not for the load of the workers
 * @property {(() => void) | null} [end] of our own callers: called when this worker leaves and it cannot go
 *
 * @param {import('../interface').WorkerKernel} kernel @returns {import('../interface').WorkerPart}
 */
function migrate ({ channel, tracker, inbox, emptying, callApp }) {
  const trails = new Trails({ channel, emptying, callApp })
  /** @param {Connection} connection @param {string} kind @param {() => Given | null} give */
  function packed (connection, kind, give) {
    if (!inbox.takers.has(kind)) return null // it could not come back where no sibling takes it
    const packed = callApp('movable', () => {
      const given = give()
      if (given === null) return null
      const { state, unread = NOTHING, onLeave, follow } = given
      const bytes = serialized(state, unread)
      onLeave?.()
      return { kind, state: bytes, unread, trail: follow ? trails.depart(follow, connection.id) : null }
    })
    if (packed === undefined) { // it has thrown, and would the next time
      connection.pack = null
      connection.stays = 'threw'
    }
    return packed ?? null
  }

  return {
    endCalls: () => trails.end(),
    api: {
      movable (
        /** @type {Socket} */ socket, /** @type {string} */ kind,
        /** @type {() => Given | null} */ give,
        /** @type {How} */ { rebalance = true, end = null } = {}
      ) {
        const connection = tracker.of(socket)
        if (!connection) return false
        connection.stays = connection.session ? 'http2' : connection.secure ? 'tls' : 'busy'
        if (connection.stays !== 'busy') return false
        connection.pack = () => packed(connection, checked(kind), give)
        connection.mayRebalance = rebalance
        connection.onKept = end
        return true
      },
      onMoved (
        /** @type {string} */ kind,
        /** @type {(socket: Socket, state: unknown, unread: Buffer, arrived: unknown) => void} */ fn
      ) {
        inbox.takers.set(checked(kind), (socket, state, unread, id) => {
          const isTaken = callApp('onMoved', () => {
            fn(socket, deserialize(state), unread, id === null ? null : trails.arrive(id))
            return true
          })
          if (!isTaken) socket.destroy()
        })
      }
    }
  }
}

/** @param {unknown} kind @throws {TypeError} */
function checked (kind) {
  if (typeof kind === 'string' && kind.length > 0 && kind.length <= LONGEST_KIND) return kind
  throw new TypeError(`the kind of a connection is a text of 1 to ${LONGEST_KIND} characters; ` +
    `it is ${JSON.stringify(kind)}`)
}

/** @param {unknown} state @param {Buffer} unread @returns {Buffer} @throws {Error} where it cannot be sent */
function serialized (state, unread) {
  const bytes = serialize(state)
  if (bytes.length > MOST_STATE) {
    throw new RangeError(`the state of a connection has ${bytes.length} bytes, and moves with ${MOST_STATE} ` +
      'at the most: it stays in its worker')
  }
  if (unread.length > MOST_UNREAD) {
    throw new RangeError(`${unread.length} bytes of a connection are unread, and it moves with ${MOST_UNREAD} ` +
      'at the most: it stays in its worker')
  }
  return bytes
}

module.exports = { part: migrate }
