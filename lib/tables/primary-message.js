'use strict'

/**
 * Every message between two primaries, of which one takes the fleet of the other over. The two may be of different
 * versions, on different versions of Node.js, so each message is checked against its shape on both sides. A later
 * version may add messages and fields: where they are not known they are ignored, and VERSION is raised where they must
 * not be. How they travel is in envelope.js.
 */

const { fromPredecessor } = require('../features')
const { name, why, shared, ofConnections } = require('./message')
const shapes = require('../core/shape')
/** @import { Kind } from './message' */

const { count, duration, flag, text, orNull, optional, listOf } = shapes

/** @type {typeof shapes.record} */
const record = fields => shapes.record(fields, { isOpen: true })
/** @type {typeof shapes.kind} */
const kind = (what, fields, handle, how) => shapes.kind(what, fields, handle, { ...how, isOpen: true })

/** Of these messages; raised when one of them changes its meaning: there is no upgrade then. */
const VERSION = 3

/** Of those of connections on their way, as VERSION: where the other one has another, all stay, and are drained. */
const MOVES = 1

const LONGEST_LEGACY = 10_000_000

const kept = record({ fd: count, name: orNull(name), path: orNull(name), address: orNull(name), port: orNull(count) })

/** predecessor → successor @type {Readonly<Record<string, Kind>>} */
const FROM_PREDECESSOR = Object.freeze({
  ...ofConnections(kind, record),
  socket: kind('a listening socket: of workers, one that has been inherited and on which none listens (kept), or the ' +
    "admin server's", shapes.oneOf('of', {
    // `file`: of a unix socket; `kept`: it has been inherited, and another process keeps it open
    workers: { key: name, file: orNull(name), data: optional(shared), kept: optional(kept) },
    kept: { kept },
    admin: { address: text(300) }
  }, { isOpen: true }), 'socket'),
  begin: kind('these were all sockets: boot the workers; each is to listen on `addresses`, unless its code leaves ' +
    'one; `workers`: how many, where that has been changed since the start, or null; `generation`: the latest',
  { addresses: listOf(name), workers: orNull(count), generation: optional(count) }),
  go: kind('lead; `workers`: as of now; `isPinned`: a command has set it, though the fleet sizes itself',
    { workers: orNull(count), isPinned: optional(flag) }),
  legacy: kind('what a part of the predecessor leaves to its like here; sent again, it replaces the earlier one; ' +
    '`isLast`: of those that are sent together',
  { feature: text(100), text: text(LONGEST_LEGACY), isLast: optional(flag) }),
  abort: kind('end: nothing is handed over', { why }),
  stopping: kind('the answer to the same: its copies of the sockets are closed'),
  left: kind('the old workers are gone'),
  ...fromPredecessor({ ...shapes, kind, record })
})

/** successor → predecessor @type {Readonly<Record<string, Kind>>} */
const FROM_SUCCESSOR = Object.freeze({
  ...ofConnections(kind, record),
  hello: kind('it runs; `version`, `moves`: of these messages, and of those of connections',
    { version: count, moves: optional(count), recycle: text(100), node: text(100), readyTimeoutMs: duration }),
  booted: kind('one more worker has booted', { done: count, of: count }),
  prepared: kind('every worker has booted, and everything is open that could fail to open'),
  serving: kind('its workers accept',
    { addresses: listOf(name), workers: listOf(record({ slot: count, pid: count })) }),
  legacy: kind('send what parts leave again: it may have changed'),
  stopping: kind('the fleet stops, and this primary must not run it again'),
  abort: kind('it gives up', { why })
})

module.exports = { VERSION, MOVES, LONGEST_LEGACY, FROM_PREDECESSOR, FROM_SUCCESSOR }
