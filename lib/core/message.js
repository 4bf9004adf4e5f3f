'use strict'

/**
 * Every message between the primary and its workers. They travel as Node's internal messages (a `cmd` that starts with
 * `NODE_`), so that an app's own `process.on('message')` never sees one and none of the app's messages can be taken for
 * ours.
 *
 * An app shares its process with our end of the channel, and may send what it likes. So the primary checks each message
 * against its shape at the door: past the dispatcher, every field is what this table says.
 *
 * @typedef {object} Beat
 * @property {number} requests begun since the start
 * @property {number} inFlight
 * @property {number} connections with those in the inbox
 * @property {number} lasting how many of them have lasted for a second, or come from a sibling
 * @property {number} elu event-loop utilisation since the last beat, 0 to 1
 * @property {import('./gc-pauses').Gc} gc pauses of the garbage collector; the longest since the last beat
 * @property {number} loopLagMs longest delay of the event loop since the last beat
 * @property {boolean} debugged an inspector is open: silence may be a breakpoint
 * @property {number | null} ceiling connections that it has descriptors for; null: not known
 *
 * @typedef {{ cmd: 'NODE_RECYCLE', type: string } & Record<string, any>} Message
 *
 * @typedef {object} Kind of message
 * @property {import('./shape').Shape} fields
 * @property {'socket' | 'none'} handle whether a TCP or pipe handle comes with it
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
// A connection that moves: its server, the time that is left of its keep-alive timeout, and its unread bytes, in base64.
const parcel = record({ key: name, leftMs: orNull(duration), bytes: optional(text(LONGEST_BYTES)) })
const shared = record({ ticketKeys: text(1000) }) // what net calls server data: https servers alone have any

/** @param {Record<string, import('./shape').Shape>} [fields] @param {Kind['handle']} [handle] @returns {Kind} */
const kind = (fields = {}, handle = 'none') => ({ fields: record(fields), handle })

/** worker → primary @type {Readonly<Record<string, Kind>>} */
const FROM_WORKER = Object.freeze({
  // The preload has run.
  hello: kind(),
  // Give me the listening socket for this query of net's.
  listen: kind({ id, key: name, query, data: optional(shared) }),
  // A server of mine listens; why its connections cannot move, or null.
  listening: kind({ key: name, missing: orNull(why) }),
  // The app has closed that server.
  unlisten: kind({ key: name }),
  // Pushed, never asked for.
  beat: kind({ requests: count, inFlight: count, connections: count, lasting: count, elu: ratio, gc: GC, loopLagMs: duration, debugged: flag, ceiling: orNull(count) }),
  // The app asks to be recycled.
  requested: kind({ reason: optional(orNull(text(LONGEST_WISH))) }),
  // It has stopped accepting, at the level or for want of descriptors; it accepts again.
  full: kind({ isAtCeiling: flag }),
  room: kind(),
  // An idle connection for a sibling.
  offer: kind({ id, parcel }, 'socket'),
  // The answer to `adopt`.
  adopted: kind({ id }),
  refused: kind({ id, why: optional(orNull(why)) }),
  // The answer to each message with an id but `adopt`; `why` it was not done, or null.
  answer: kind({
    id, why: orNull(why), moved: optional(count), tookMs: optional(duration), pauseMs: optional(duration), bytes: optional(count), before: optional(usage), after: optional(usage)
  }),
  // Nothing is left here.
  drained: kind({ account: ACCOUNT })
})

/** primary → worker @type {Readonly<Record<string, Kind>>} */
const FROM_PRIMARY = Object.freeze({
  // The answer to `listen`, with the listening socket where there is no error.
  answer: kind({ id, errno: integer, data: optional(shared) }, 'socket'),
  // The fleet ends: stop accepting for good.
  shut: kind({ id }),
  // A standby is called: this is its slot; accept.
  serve: kind({ id, slot: count }),
  // A connection that came through the queue after `shut`.
  accept: kind({ key: name }, 'socket'),
  // Leave; sent again with a shorter deadline, it hurries.
  drain: kind({ reason: text(100), deadlineMs: duration, lingerMs: orNull(duration), handoff: flag }),
  // Go out of rotation for a while: answered when nothing is left. Come back from there.
  'leave-rotation': kind({ id, deadlineMs: duration, handoff: flag }),
  rejoin: kind(),
  // Only out of rotation, for they hold the worker's thread.
  collect: kind({ id }),
  heapdump: kind({ id, file: name }),
  // While it serves.
  profile: kind({ id, durationMs: duration, file: name }),
  // Leave the queue to the others from this many connections on.
  level: kind({ level: count }),
  // Give so many idle connections away.
  share: kind({ count }),
  // Take this connection over.
  adopt: kind({ id, parcel }, 'socket'),
  // It is yours, read it; it is another's by now, close your copy.
  keep: kind({ id }),
  drop: kind({ id }),
  // Your offer was taken; no sibling took it, keep serving it (`isStalled`: one that has not answered still may).
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
 * A message that carries a handle loses it where the receiver has no descriptor left, and Node drops the message with it,
 * for a raw handle is not sent again. Here it is one of ours all the same, without the handle.
 *
 * @param {any} received by `internalMessage`
 * @param {any} [handle] what came with it
 * @returns {Message | null} null: it is cluster's, or Node's
 */
function ourMessage (received, handle) {
  const message = received?.cmd === 'NODE_HANDLE' && !handle ? received.msg : received
  return message?.cmd === CMD ? message : null
}

/**
 * @param {Readonly<Record<string, Kind>>} kinds
 * @param {Message} received
 * @param {any} [handle] what came with it
 * @returns {string | null} what is wrong with it, in a sentence; null: nothing is
 */
function flawOf (kinds, { cmd, type, ...fields }, handle) {
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) return 'there is no message of this type'
  const flaw = kinds[type].fields(fields)
  if (flaw) return `its ${flaw.at.slice(1) || 'fields'} must be ${flaw.accepts}`
  if (kinds[type].handle === 'none' && handle) return 'no handle comes with it'
  // An offer without a socket is no flaw: Node drops a handle whose connection has just ended.
  if (handle && !isStream(handle)) return 'what comes with it must be a TCP or pipe handle'
  return null
}

/** A bare handle of a TCP or unix socket, and not what Node makes of one, nor of a datagram socket. @param {any} handle */
function isStream (handle) {
  return typeof handle.readStop === 'function' && typeof handle.close === 'function'
}

/**
 * Throws at load where a handler is for a message that there is not, or has one already.
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
