'use strict'

/**
 * The account of a drain: how each connection ended that was open when the drain began. Every connection counts in
 * exactly one of `moved`, `closedByClient`, `closedAfterResponse`, `closedIdle`, `cut`, `unacked` and `unaccounted`,
 * whose sum is `connections`. It is the supervisor's audit, one of the two witnesses for "nothing was dropped".
 *
 * @typedef {ValueOf<typeof CUT> & { deaths?: number }} Cut a request in flight at the drain deadline; `deaths`: of one
 *   that was lost with a worker, how many had died with it before
 *
 * @typedef {object} Outcome of the connections that a dead worker had
 * @property {number} moved to a sibling, with nothing in flight
 * @property {number} replayed to a sibling, with a request that it handles
 * @property {number} answered with 502
 * @property {number} cut
 * @property {number} ended by the client before
 * @property {Cut[]} cuts the requests that were answered with 502, or cut; see Account
 * @property {number} [unnamed] @property {number} [unnamedStreams]
 *
 * @typedef {Record<'connections' | 'inFlight' | typeof COUNTS[number], number> & Named} Account by its numbers, which
 *   lib/journal/recycle-event.js explains; `connections`: those in the inbox among them, and those that were accepted
 *   before the worker stopped accepting
 *
 * @typedef {object} Named
 * @property {Cut[]} cuts each request that was cut, MOST_CUTS at most
 * @property {number} [unnamed] how many more were cut
 * @property {number} [unnamedStreams] those of them that were upgraded or raw connections
 * @property {Record<string, number>} [restarted] WebSockets that this worker has closed with 1012 (service restart), of
 *   any end: how many for each reason, as `why` of a cut
 */

const { fromNames } = require('./fields')
const { asCount } = require('./journal-field')
const { count, flag, text, optional, orNull, listOf, mapOf, record } = require('./shape')
/** @import { ValueOf } from './shape' */

const LONGEST_PATH = 2000
const LONGEST_WHY = 20
const MOST_WHYS = 20
const MOST_CUTS = 1000 // named: of tens of thousands a message would be megabytes, and a line of the journal
const CUT = record({
  method: orNull(text(100)), // null: the request's head was incomplete, or the protocol is not HTTP
  path: orNull(text(LONGEST_PATH)), // without its query
  ageMs: count,
  remotePort: orNull(count),
  upgraded: flag, // or raw: only the app can end it
  why: optional(text(LONGEST_WHY)) // of such a connection: for what it could not move; see why-stayed.js
})
const ENDS = Object.freeze(/** @type {const} */ ([
  'moved', 'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'unacked', 'unaccounted'
]))
const COUNTS = /** @type {const} */ (['finished', 'aborted', 'moved', 'refused', 'takenBack', 'replayed',
  'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'unacked', 'unaccounted'])
const NONE = Object.freeze(fromNames(COUNTS, () => 0))
const FIELDS = record({
  connections: count,
  inFlight: count,
  ...fromNames(COUNTS, () => count),
  cuts: listOf(CUT, MOST_CUTS),
  unnamed: optional(count),
  unnamedStreams: optional(count),
  restarted: optional(mapOf(count, MOST_WHYS))
})

/** The account as a drained worker sends it. @type {import('./shape').Shape} */
const ACCOUNT = value => FIELDS(value) ?? (addsUp(/** @type {Account} */ (value))
  ? null
  : { at: '', accepts: 'one in which each connection ends once, and each cut is named' })

/** @param {Account} account */
function addsUp (account) {
  const { connections, cut, cuts, unnamed = 0 } = account
  return ENDS.reduce((sum, end) => sum + account[end], 0) === connections && cuts.length + unnamed >= cut
}

/** @param {Pick<Account, 'cuts' | 'unnamed' | 'unnamedStreams'>} account @param {Cut[]} cuts */
function addCuts (account, cuts) {
  const named = cuts.slice(0, Math.max(0, MOST_CUTS - account.cuts.length))
  account.cuts.push(...named)
  if (named.length === cuts.length) return
  const unnamed = cuts.slice(named.length)
  account.unnamed = (account.unnamed ?? 0) + unnamed.length
  account.unnamedStreams = (account.unnamedStreams ?? 0) + unnamed.filter(({ upgraded }) => upgraded).length
}

/** @param {Account} account @param {string} why */
function addRestarted (account, why) {
  account.restarted = { ...account.restarted, [why]: (account.restarted?.[why] ?? 0) + 1 }
}

/** @param {number} connections @param {number} inFlight @returns {Account} */
const openAccount = (connections, inFlight) => ({ connections, inFlight, ...NONE, cuts: [] })

/**
 * The account of a worker that gave none, from its last beat. A connection with a request in flight was cut; any other
 * connection may have had a request that the worker had not read.
 * @param {number} connections @param {number} inFlight @returns {Account}
 */
function lostAccount (connections, inFlight) {
  const cut = Math.min(connections, inFlight) // one connection may have several requests in flight
  return { ...openAccount(connections, inFlight), cut, unaccounted: connections - cut }
}

/**
 * The same, where it is known what has become of its connections; the others were younger, or of a protocol that cannot
 * move.
 * @param {number} connections by its last beat @param {number} inFlight @param {Outcome} outcome @returns {Account}
 */
function rescuedAccount (connections, inFlight, { moved, replayed, answered, cut, ended, ...named }) {
  const known = moved + replayed + answered + cut + ended
  const all = Math.max(connections, known)
  return {
    ...openAccount(all, inFlight),
    moved: moved + replayed,
    replayed,
    cut: answered + cut,
    closedByClient: ended,
    unaccounted: all - known,
    ...named
  }
}

/**
 * Losses with a worker that crashed, by its line in the journal.
 * @param {import('../lines').ReadLine<'worker.crash'>} line
 * @returns {{ connections: number, inFlight: number }} of what was not rescued, also where no sibling could be given
 *   anything. `connections`: those of which it is not known what they had in flight among them; `inFlight`: by the last
 *   beat, where that is all that is known
 */
function lostWith (line) {
  const [connections, inFlight, moved, replayed, answered, cut, ended] = [
    line.connections, line.inFlight, line.moved, line.replayed, line.answered, line.cut, line.ended
  ].map(asCount)
  if (line.moved === undefined) return { connections, inFlight } // nothing outlived it
  const unknown = Math.max(0, connections - moved - replayed - answered - cut - ended)
  const inFlightOnThem = Math.min(unknown, Math.max(0, inFlight - replayed - answered - cut))
  return { connections: answered + cut + unknown, inFlight: answered + cut + inFlightOnThem }
}

/**
 * Of what was cut, the upgraded and raw connections: no request was lost with them, and without the app's doing they do
 * not end. A fleet that closes them at the drain timeout does as configured.
 * @param {{ cut?: number, cuts?: Pick<Cut, 'upgraded'>[], unnamedStreams?: number }} account @returns {number}
 */
function streamsCut ({ cut = 0, cuts = [], unnamedStreams = 0 }) {
  return Math.min(cut, cuts.filter(cut => cut?.upgraded === true).length + unnamedStreams)
}

module.exports = {
  ACCOUNT, ENDS, LONGEST_PATH, LONGEST_WHY, MOST_CUTS, MOST_WHYS, addCuts, addRestarted, openAccount, lostAccount,
  rescuedAccount, lostWith, streamsCut
}
