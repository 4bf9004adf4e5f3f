'use strict'

/**
 * Every message between the primary and its workers. They are internal messages of Node (`cmd` starts with `NODE_`): the
 * app's `process.on('message')` never sees one, and no message of the app is mistaken for one.
 *
 * The app shares its process with recycle's end of the channel, and can send anything. So the primary checks each message
 * on arrival: behind the dispatcher, every field has the shape that this table declares.
 *
 * @typedef {object} Beat
 * @property {number} requests begun since the start
 * @property {number} inFlight
 * @property {number} connections including those in the inbox
 * @property {number} lasting those open for a second or more, or moved here by a sibling
 * @property {number} elu event-loop utilisation since the last beat, 0 to 1
 * @property {import('./gc-pauses').Gc} gc pauses of the garbage collector; the longest since the last beat
 * @property {number} loopLagMs longest delay of the event loop since the last beat
 * @property {boolean} debugged an inspector is open: missing beats may be a breakpoint
 * @property {number | null} ceiling connections that the worker has descriptors for; null: not known
 *
 * @typedef {{ cmd: 'NODE_RECYCLE', type: string } & Record<string, any>} Message
 *
 * @typedef {object} Kind of message; docs/how-it-works.md has them as a table
 * @property {string} what it says
 * @property {string[]} names of its fields
 * @property {import('./shape').Shape} fields
 * @property {'socket' | 'none'} handle whether a TCP or pipe handle may accompany it
 */

const { ACCOUNT } = require('./account')
const { GC } = require('./gc-pauses')
const { count, integer, duration, ratio, flag, text, orNull, optional, record } = require('./shape')

const CMD = 'NODE_RECYCLE'
const LONGEST_WISH = 200
const LONGEST_BYTES = 1_400_000 // in base64, of a megabyte

const name = text(8192) // an address: paths are at most 4,096 characters, and in JSON some take more
const why = text(2000)
const id = count
const usage = record({ rssBytes: count, heapUsedBytes: count, externalBytes: count })
const query = record({
  address: orNull(name),
  asked: optional(orNull(name)),
  port: orNull(integer),
  addressType: orNull(integer),
  fd: optional(orNull(integer)),
  flags: optional(orNull(integer)),
  readableAll: optional(flag),
  writableAll: optional(flag)
})
const shared = record({ ticketKeys: text(1000) }) // net's server data, which only https servers have

/** @param {string} what @param {Record<string, import('./shape').Shape>} [fields] @param {Kind['handle']} [handle] @returns {Kind} */
const kind = (what, fields = {}, handle = 'none') => ({ what, names: Object.keys(fields), fields: record(fields), handle })

/** worker → primary @type {Readonly<Record<string, Kind>>} */
const FROM_WORKER = Object.freeze({
  // The preload has run.
  hello: kind(),
  // Requests the listening socket for this query of net's.
  listen: kind({ id, key: name, query, data: optional(shared) }),
  // A server listens; `missing`: why its connections cannot move, or null.
  listening: kind({ key: name, missing: orNull(why) }),
  // The app has closed that server.
  unlisten: kind({ key: name }),
  // Pushed periodically; the primary never asks.
  beat: kind({ requests: count, inFlight: count, connections: count, lasting: count, elu: ratio, gc: GC, loopLagMs: duration, debugged: flag, ceiling: orNull(count) }),
  // The app asks to be recycled.
  requested: kind({ reason: optional(orNull(text(LONGEST_WISH))) }),
  // The worker has stopped accepting, at its limit or for lack of descriptors; it accepts again.
  full: kind({ isAtCeiling: flag }),
  room: kind(),
  // An idle connection for a sibling.
  offer: kind({ id, key: name, leftMs: orNull(duration) }, 'socket'),
  // The answer to `adopt`.
  adopted: kind({ id }),
  refused: kind({ id, why: optional(orNull(why)) }),
  // The answer to `shut`, and to `serve`.
  shut: kind(),
  serving: kind(),
  // The result of `leave-rotation`, `collect`, `heapdump` or `profile`; `why`: the reason for a failure, or null.
  answer: kind({
    id, why: orNull(why), moved: optional(count), tookMs: optional(duration), pauseMs: optional(duration), bytes: optional(count), before: optional(usage), after: optional(usage)
  }),
  // The worker has no connections left.
  drained: kind({ account: ACCOUNT })
})

/** primary → worker @type {Readonly<Record<string, Kind>>} */
const FROM_PRIMARY = Object.freeze({
  // The answer to `listen`, with the listening socket if there is no error.
  listener: kind({ id, errno: integer, data: optional(shared) }, 'socket'),
  // The fleet stops: stop accepting for good.
  shut: kind(),
  // A standby takes this slot, and accepts.
  serve: kind({ slot: count }),
  // A connection that was in the queue after `shut`.
  accept: kind({ key: name }, 'socket'),
  // Drain and exit; sent again, it shortens the deadline.
  drain: kind({ reason: text(100), deadlineMs: duration, lingerMs: orNull(duration), handoff: flag }),
  // Leave rotation for a while: answered when no connection is left. Return to rotation.
  'leave-rotation': kind({ id, deadlineMs: duration, handoff: flag }),
  rejoin: kind(),
  // Only out of rotation, because they block the worker's thread.
  collect: kind({ id }),
  heapdump: kind({ id, file: name }),
  // While it serves.
  profile: kind({ id, durationMs: duration, file: name }),
  // Stop accepting at this many connections.
  level: kind({ level: count }),
  // Give this many idle connections to siblings.
  share: kind({ count }),
  // Adopt this connection.
  adopt: kind({ id, key: name, leftMs: orNull(duration) }, 'socket'),
  // Read the adopted connection; close this copy, a sibling has the connection.
  keep: kind({ id }),
  drop: kind({ id }),
  // A sibling adopted the offer; no sibling did, keep serving it (`isStalled`: a stuck one still may).
  moved: kind({ id }),
  back: kind({ id, isStalled: flag })
})

/**
 * @param {string} type
 * @param {Record<string, any>} [fields]
 * @returns {Message}
 */
function message (type, fields) {
  return { cmd: CMD, type, ...fields }
}

/**
 * If the receiver has no descriptor left, a message loses its handle, and Node drops the message: it does not send a raw
 * handle again. This returns such a message too, without the handle.
 *
 * @param {any} received by `internalMessage`
 * @param {any} [handle] that accompanies it
 * @returns {Message | null} null: a message of cluster or of Node
 */
function ourMessage (received, handle) {
  const message = received?.cmd === 'NODE_HANDLE' && !handle ? received.msg : received
  return message?.cmd === CMD ? message : null
}

/**
 * @param {Readonly<Record<string, Kind>>} kinds
 * @param {Message} received
 * @param {any} [handle] that accompanies it
 * @returns {string | null} what is wrong with it, as a clause; null: it is valid
 */
function flawOf (kinds, { cmd, type, ...fields }, handle) {
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) return 'there is no message of this type'
  const flaw = kinds[type].fields(fields)
  if (flaw) return `its ${flaw.at.slice(1) || 'fields'} must be ${flaw.accepts}`
  if (kinds[type].handle === 'none' && handle) return 'it must come without a handle'
  // An offer without a socket is valid: Node drops a handle whose connection has just ended.
  if (handle && !isStream(handle)) return 'its handle must be a TCP or pipe handle'
  return null
}

/** Whether this is a bare handle of a TCP or unix socket: not a net.Socket, and not of a datagram socket. @param {any} handle */
function isStream (handle) {
  return typeof handle.readStop === 'function' && typeof handle.close === 'function'
}

/**
 * Throws at load time if a handler is for an unknown message, or for one that has a handler already.
 *
 * @template {Record<string, (fields: any, handle?: any) => void>} Handlers
 * @param {Readonly<Record<string, Kind>>} kinds
 * @param {Handlers} handlers
 * @param {Record<string, unknown>} [registered]
 * @returns {Handlers}
 */
function checkHandlers (kinds, handlers, registered = {}) {
  for (const type of Object.keys(handlers)) {
    if (!Object.hasOwn(kinds, type)) throw new Error(`there is no message ${type}`)
    if (Object.hasOwn(registered, type)) throw new Error(`the message ${type} has a handler already`)
  }
  return handlers
}

module.exports = { FROM_WORKER, FROM_PRIMARY, LONGEST_WISH, message, ourMessage, flawOf, checkHandlers }
