'use strict'

/**
 * Every message between the primary and its workers, each with the shape of its fields. How they travel is in
 * envelope.js.
 *
 * An app shares its process with our end of the channel, and may send what it likes. So the primary checks each message
 * against its shape at the door: past the dispatcher, every field is what this table says.
 *
 * @typedef {typeof import('./figures').NO_BEAT & import('../features').Sampled & Record<string, unknown>} Beat with
 *   what features add by their `beat`
 *
 * @typedef {RecordOf<typeof parcelFields>} ParcelFields a connection on its way; see lib/worker/connections/parcel.js
 * @typedef {RecordOf<typeof ORDER>} Order to drain
 * @typedef {ValueOf<typeof query>} Query net's
 * @typedef {ValueOf<typeof shared>} ServerData net's, of an https server
 * @typedef {ValueOf<typeof ORPHAN>} OrphanFacts
 *
 * @typedef {object} Kind of message; `what` says what it is for
 * @property {string} what it says
 * @property {import('../core/shape').Shape} fields
 * @property {'socket' | 'none'} handle whether a TCP or pipe handle comes with it
 * @property {boolean} isAside its sender's event loop may be blocked
 *
 * @typedef {object} Verb
 * @property {Record<string, import('../core/shape').Shape>} fields what is to be known for it
 * @property {Record<string, import('../core/shape').Shape>} [answer] to a call that was done: the fields beside `why`,
 *   which is null then; without, it is an order, and is not answered
 */

const { FEATURES, beatOf } = require('../features')
const { OF_BEAT, OF_FEATURES } = require('./figures')
const { ACCOUNT } = require('../core/account')
const { LONGEST_ERROR, LONGEST_WISH, MOST_REQUESTS } = require('../core/envelope')
const { LONGEST_PREFACE } = require('../core/proxy-protocol')
const { LONGEST_REQUEST } = require('../core/request-name')
const shapes = require('../core/shape')
/** @import { RecordOf, ValueOf } from '../core/shape' */

const { kind, count, integer, duration, ratio, flag, text, orNull, optional, listOf, oneOf, record } = shapes

const MOST_BATCHED = 1000
const LONGEST_KEPT = 16_000 // with its addresses, it is a half of what the addon passes in one piece
const LONGEST_KIND = 100
const LONGEST_SESSION = 200
const LONGEST_BYTES = 1_400_000 // in base64, of a megabyte

const name = text(8192) // an address: paths are at most 4,096 characters, and in JSON some take more
const why = text(2000)
const id = count
const batched = shapes.shape('an object or a list', value => typeof value === 'object' && value !== null, () => ({}))
const usage = record({ rssBytes: count, heapUsedBytes: count, externalBytes: count })
const query = record({
  address: orNull(name), // a path is absolute
  asked: optional(orNull(name)), // the path as the app gave it
  port: orNull(integer), // -1: a path; null: a descriptor
  addressType: orNull(integer),
  fd: optional(orNull(integer)),
  flags: optional(orNull(integer)),
  readableAll: optional(flag),
  writableAll: optional(flag),
  umask: optional(count), // of the worker as it asked, and its user
  uid: optional(count),
  gid: optional(count)
})
const parcelFields = {
  key: name, // the server that it belongs to
  leftMs: orNull(duration), // what is left of its keep-alive timeout; null: for ever
  bytes: optional(text(LONGEST_BYTES)), // received from the client, and not answered, in base64
  preface: optional(text(LONGEST_PREFACE)), // what the app reads before them: a header of the PROXY protocol, in base64
  replayed: optional(count), // how many workers have had the request in them
  deaths: optional(count), // how many of these have died meanwhile
  session: optional(text(LONGEST_SESSION)), // of its latest request, where requests belong to any
  isOwned: optional(flag), // this session is the receiver's
  load: optional(ratio), // of its sender's event loop, by its requests
  byLoad: optional(flag), // its sender has chosen it for that
  row: optional(count), // the sender's, where the primary has a descriptor of it already
  counted: optional(listOf(count, 2)), // bytes read and written, of one of which none are unread
  kind: optional(text(LONGEST_KIND)), // its protocol is the app's: which function of the app takes it
  state: optional(text(LONGEST_BYTES)), // for that function: serialised, in base64
  isFollowed: optional(flag) // what the app sends to it in its sender comes behind it
}
/** Bytes that the sender's app has sent since the connection has gone, and the answer to the receiver's `ahead`. */
const behind = {
  id, bytes: optional(text(LONGEST_BYTES)), mark: optional(count), isOver: optional(flag), isEnded: optional(flag)
}
const ahead = { id, mark: orNull(count) }

/**
 * Of a connection on its way, in all directions: between the primary and a worker, and between two primaries.
 * @param {typeof kind} kind @param {typeof record} record of either @returns {Readonly<Record<string, Kind>>}
 */
const ofConnections = (kind, record) => ({
  move: kind('take this connection over, idle or with a request that is not answered, and do not read it yet; ' +
    'without a handle: the primary has it by its `row`',
  { id, parcel: record(parcelFields) }, 'socket'),
  moved: kind("to the sender of `move` the outcome, to its receiver the decision: ok, it is the receiver's, " +
    "which has noted it in that `row`, or its worker's of this `pid`; else it is the sender's still: `isStalled`: " +
    "one that is silent, or that is to come, may take it, `isOwner`: its session is the sender's, `isMissing`: " +
    'send its handle', {
    id,
    ok: flag,
    row: optional(count),
    pid: optional(count), // from another primary
    isStalled: optional(flag),
    isOwner: optional(flag),
    isMissing: optional(flag)
  }),
  behind: kind('what its app has sent to a connection that it has given away; `mark`: all up to that `ahead`; ' +
    '`isOver`: nothing follows, and, where it `isEnded`, the app there has ended it', behind),
  ahead: kind("of a connection that is here, whose sender's app sees it as open still: tell what was sent up " +
    'to here; null: it is to close there', ahead),
  batching: kind('connections can pass many at a time, by the socket that comes along; without one: that is in use', {},
    'socket'),
  batch: kind('messages of a hand-off; where connections come with them, a packet of that number is on that socket, ' +
    'and each message names its `descriptor` by its index there', {
    number: count, messages: listOf(batched, MOST_BATCHED) // each is checked by itself
  })
})
const shared = record({
  ticketKeys: text(1000),
  options: optional(text(100)), // a digest of its TLS options
  isOpaque: optional(flag) // it has more, such as contexts by server name: only workers of one generation surely agree
})

/** Deeds that the primary asks of a worker, by their verbs. @type {Readonly<Record<string, Verb>>} */
const VERBS = Object.freeze({
  serve: { fields: { slot: count }, answer: {} }, // one that is up: this is its slot, accept
  shut: { fields: {}, answer: {} }, // the fleet ends, stop accepting for good
  'leave-rotation': { // for a while; answered when nothing is left; `isPatient`: what cannot move is served on
    fields: { deadlineMs: duration, handoff: flag, replayAfterMs: orNull(duration), isPatient: optional(flag) },
    answer: { moved: count, tookMs: duration }
  },
  // garbage; only out of rotation, as what features add
  collect: { fields: {}, answer: { pauseMs: duration, before: usage, after: usage } },
  signal: { fields: { signal: text(20) }, answer: { listeners: count } }, // the app's own listeners for it are called
  // of its CPU, while it serves
  profile: { fields: { durationMs: duration, file: name }, answer: { bytes: count, tookMs: duration } },
  rejoin: { fields: {} }, // come back into rotation
  accept: { fields: { key: name } }, // a connection that came through the queue after `shut`, with its socket
  acceptLimit: { fields: { limit: count } }, // leave the queue to the others from this many connections on
  // Give connections away: those that make so much `load` (one has at most `most`), and idle ones, up to a `count`;
  // `streams`: as many of them may be upgraded or raw ones
  share: { fields: { load: ratio, most: ratio, count, streams: count } },
  'tell-requests': { fields: { forMs: duration } }, // each as it begins, for so long: workers have died suddenly
  ...Object.assign({}, ...FEATURES.map(({ does }) => does?.(shapes)))
})
const ofAnswers = Object.fromEntries(Object.values(VERBS)
  .flatMap(({ answer = {} }) => Object.entries(answer).map(([name, shape]) => [name, optional(shape)])))

/** Fields of the heartbeat, of which a worker sends those of features that are on. */
const beat = {
  ...Object.fromEntries(Object.entries(OF_BEAT).map(([name, { shape }]) => [name, shape])),
  ...Object.fromEntries([
    ...OF_FEATURES.flatMap(({ name, beat }) => beat ? [{ name, shape: beat(shapes) }] : []),
    ...Object.entries(beatOf(shapes)).map(([name, shape]) => ({ name, shape }))
  ].map(({ name, shape }) => [name, optional(shape)]))
}

/** worker → primary @type {Readonly<Record<string, Kind>>} */
const FROM_WORKER = Object.freeze({
  ...ofConnections(kind, record),
  hello: kind('the preload has run; `heapLimitBytes`: how large V8 lets its heap grow; `version`: of recycle',
    { heapLimitBytes: count, version: text(100), inspectorPort: orNull(count) }),
  listen: kind('a call: the listening socket for this query of net\'s',
    { id, key: name, query, data: optional(shared) }),
  listening: kind('a server listens; `missing`: why its connections cannot move, or null; `isClosed`: by the app',
    { key: name, missing: orNull(why), isClosed: optional(flag) }),
  beat: kind('the heartbeat, pushed and never asked for', beat),
  exception: kind('before it serves: an exception that its app has not caught', { error: text(LONGEST_ERROR) }),
  tell: kind('for the journal', oneOf('of', {
    threw: { where: text(100), error: text(LONGEST_ERROR) }, // its app, where it was called by this package; few
    // its stdout or stderr (`stream`) cannot be written to: `why`; null: it can again, at least `lost` writes were lost
    output: { stream: text(10), why: orNull(text(100)), lost: count },
    copy: { version: text(100) } // of a copy of this package that its app has loaded
  })),
  requested: kind('the app asks to be recycled', { reason: optional(orNull(text(LONGEST_WISH))) }),
  pause: kind('the app wants this worker out of the rotation for a while; `isOver`: and back',
    { reason: optional(orNull(text(LONGEST_WISH))), isOver: optional(flag) }),
  'in-flight': kind('method and path of requests in flight, latest first, and how many of each: ' +
    '`isAll`: it exits, and these are all', {
    requests: listOf(record({ request: text(LONGEST_REQUEST), count }), MOST_REQUESTS), isAll: flag
  }),
  full: kind('it has stopped accepting, at the limit or for want of descriptors; `isOver`: it accepts again',
    { isAtCeiling: flag, isOver: optional(flag) }),
  answer: kind('the answer to a call of the primary\'s; `why` it was not done; null: it was, and all is there that ' +
    'an answer to this verb has; `isSkipped`: it was not, which says nothing against the worker',
  { id, why: orNull(why), isSkipped: optional(flag), ...ofAnswers }),
  drained: kind('nothing is left in this worker', { account: ACCOUNT }),
  ...Object.assign({}, ...FEATURES.map(({ fromWorker }) => fromWorker?.(shapes)))
})

const legacy = record({ number: count, text: text(LONGEST_KEPT) })

/** Facts of an orphan, for the primary that adopts it; its listening sockets come along. See core/orphan.js. */
const ORPHAN = record({
  v: count,
  recycle: text(100), // its version
  fleet: name,
  home: name,
  app: name,
  pid: count,
  slot: count,
  generation: count,
  isLeaving: optional(flag), // it drains
  legacy: optional(legacy), // what the primary that has died leaves to the next one
  id: text(200), // in the environment of the processes that it has started
  since: count, // ms since the epoch
  oldPid: count, // of the primary that has died
  sockets: listOf(record({ key: name, query, data: optional(shared) }))
})

const ORDER = {
  reason: text(100),
  deadlineMs: duration, // from now
  lingerMs: orNull(duration), // connections that have been idle for so long are closed before that; null: not
  handoff: flag,
  replayAfterMs: orNull(duration), // from when on siblings are given unanswered requests; null: they are cut
  isSucceeded: optional(flag) // another primary has what is offered
}

/** primary → worker @type {Readonly<Record<string, Kind>>} */
const FROM_PRIMARY = Object.freeze({
  ...ofConnections(kind, record),
  do: kind('a call, by its `id`, or an order', oneOf('verb', Object.fromEntries(
    Object.entries(VERBS).map(([verb, { fields, answer }]) => [verb, { ...answer && { id }, ...fields }]))), 'socket'),
  answer: kind('the answer to `listen`, with the listening socket where there is no error, or to `own`; ' +
    '`isQueued`: a worker has listened there, so the kernel has its queue',
  { id, errno: integer, data: optional(shared), isQueued: optional(flag) }, 'socket'),
  legacy: kind('for the next primary, should this one die; `number`: the highest is the latest',
    { number: count, text: text(LONGEST_KEPT) }),
  stopping: kind('the fleet is about to stop: should the primary die, this worker leaves'),
  drain: kind('leave; sent again with a shorter deadline, it hurries', ORDER),
  ...Object.assign({}, ...FEATURES.map(({ fromPrimary }) => fromPrimary?.(shapes)))
})

/**
 * @param {Readonly<Record<string, Kind>>} kinds @param {import('../core/envelope').Message} received
 * @param {unknown} [handle] what came with it
 * @returns {string | null} what is wrong with it, in a sentence; null: nothing is
 */
function flawOf (kinds, { cmd, type, ...fields }, handle) {
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) return 'there is no message of this type'
  const flaw = sayFlaw(kinds[type].fields(fields))
  if (flaw) return flaw
  if (kinds[type].handle === 'none' && handle) return 'it must come without a handle'
  // `move` without a socket is no flaw: Node drops a handle whose connection has just ended.
  if (handle && !isStream(handle)) return 'its handle must be a TCP or pipe handle'
  return null
}

/**
 * @param {string} verb of a call @param {{ why: string | null }} answer a message without a flaw
 * @returns {string | null} what it lacks of an answer to this verb; null: nothing
 */
function flawOfAnswer (verb, answer) {
  return answer.why === null ? sayFlaw(record(VERBS[verb].answer ?? {}, { isOpen: true })(answer)) : null
}

/** @param {import('../core/shape').Flaw | null} flaw */
const sayFlaw = flaw => flaw && `its ${flaw.at.slice(1) || 'fields'} must be ${flaw.accepts}`

/**
 * A bare handle of a TCP or unix socket, but not of a server or socket that the app has sent, nor of datagrams; or a
 * descriptor.
 * @param {{ readStop?: unknown, close?: unknown, isDescriptor?: boolean, isOfApp?: boolean }} handle
 */
function isStream (handle) {
  return handle.isOfApp !== true && (typeof handle.readStop === 'function' || handle.isDescriptor === true) &&
    typeof handle.close === 'function'
}

module.exports = {
  LONGEST_KEPT, VERBS, FROM_WORKER, FROM_PRIMARY, ORPHAN, name, why, shared, ofConnections, flawOf, flawOfAnswer
}
