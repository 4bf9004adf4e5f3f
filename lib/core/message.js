'use strict'

/**
 * Every message between the primary and its workers, both directions. They travel as Node's internal messages (a `cmd`
 * that starts with `NODE_`), so that an app's own `process.on('message')` never sees one and none of the app's
 * messages can be taken for ours.
 *
 * worker → primary
 *   hello     {}                                       the preload has run
 *   listen    { id, key, query, data }                 give me the listening socket for this query of net's
 *   listening { key, missing }                         a server of mine listens; why its connections cannot move, or null
 *   unlisten  { key }                                  the app closed that server
 *   beat      Beat                                     pushed, never asked for
 *   wish      { reason }                               the app asks to be recycled
 *   full      { isAtCeiling } | room {}                it has shut its gates, at the level or for want of descriptors | open again
 *   offer     { id, key, leftMs } + socket             an idle connection for a sibling
 *   adopted   { id } | refused { id, why }             the answer to `adopt`
 *   shut      {}                                       the answer to `shut`
 *   serving   {}                                       the answer to `serve`: the gates are open
 *   answer    { id, why, … }                           what became of `aside`, `collect`, `heapdump` or `profile`
 *   drained   { account }                              nothing is left here; see account.js
 *
 * primary → worker
 *   listener  { id, errno, data } + listening socket   the answer to `listen`
 *   shut      {}                                       the fleet ends: shut the gates for good
 *   serve     { slot }                                 a standby is called: this is your slot, open the gates
 *   accept    { key } + socket                         it came through the queue after that: let it in
 *   drain     { reason, deadlineMs, lingerMs, handoff } leave; sent again with a shorter deadline, it hurries
 *   aside     { id, deadlineMs, handoff }              go out of rotation for a while: answered when nothing is left
 *   return    {}                                       come back from there
 *   collect   { id } | heapdump { id, file }           only out of rotation: it holds this worker's thread
 *   profile   { id, durationMs, file }                 while it serves
 *   level     { level }                                leave the queue to the others from this many connections on
 *   share     { count }                                give so many idle connections away
 *   adopt     { id, key, leftMs } + socket             take this connection over
 *   keep      { id } | drop { id }                     it is yours, read it | it is another's by now, close your copy
 *   moved     { id } | back { id, isStalled }          your offer was taken | nobody took it, keep serving it; somebody may yet, who is silent
 *
 * @typedef {object} Beat
 * @property {number} requests begun since the start
 * @property {number} inFlight
 * @property {number} connections with those in the lobby
 * @property {number} lasting how many of them have lasted for a second, or come from a sibling
 * @property {number} elu event-loop utilisation since the last beat, 0 to 1
 * @property {import('./pauses').Gc} gc pauses of the garbage collector; the longest since the last beat
 * @property {number} loopLagMs longest delay of the event loop since the last beat
 * @property {boolean} debugged an inspector is open: silence may be a breakpoint
 * @property {number | null} ceiling connections that it has descriptors for; null: not known
 *
 * @typedef {{ cmd: 'NODE_RECYCLE', type: string } & Record<string, any>} Message
 */
const CMD = 'NODE_RECYCLE'

/**
 * @param {string} type
 * @param {Record<string, any>} [fields]
 * @returns {Message}
 */
function message (type, fields) {
  return { cmd: CMD, type, ...fields }
}

/**
 * Dispatches a received message by a table of handlers; what is not ours, or has no handler, is left alone.
 *
 * A message that carries a handle loses it where the receiver has no descriptor left, and Node drops the message with it:
 * a raw handle is not sent again. It is dispatched without the handle.
 *
 * @param {Record<string, (fields: any, handle?: any) => void>} handlers
 * @returns {(message: any, handle?: any) => void} a listener for `internalMessage`
 */
function dispatcher (handlers) {
  return function onInternalMessage (received, handle) {
    const ours = received?.cmd === 'NODE_HANDLE' && !handle ? received.msg : received
    if (ours?.cmd === CMD) handlers[ours.type]?.(ours, handle)
  }
}

module.exports = { message, dispatcher }
