'use strict'

/**
 * @typedef {object} RecycleEvent a worker that was drained, with its account. Times in ms since the epoch, durations in
 *   ms, sizes in bytes; null: the journal does not record it
 * @property {number} id 1, 2, 3 … as they ended
 * @property {Kind} kind unfinished: the journal ends before the drain does
 * @property {number | null} slot of the worker
 * @property {number | null} oldPid the worker that left
 * @property {number | null} pid its replacement
 * @property {string | null} reason as in the journal's recycled; scale, or stop
 * @property {string | null} how surge, standby, drain-first, or upgrade: by the worker of another primary
 * @property {number} beganAt the replacement was spawned, or the drain began
 * @property {number} drainAt the drain began
 * @property {number} drainedAt the old worker gave its account
 * @property {number} retiredAt the old worker exited
 * @property {number} t the end of the event
 * @property {number | null} readyMs the replacement's boot
 * @property {number | null} drainMs
 * @property {number | null} tookMs all of it
 * @property {number | null} rssBefore the old worker's
 * @property {number | null} rssAfter the replacement's
 * @property {Count | null} connections open when the drain began
 * @property {Count | null} inFlight requests in flight when the drain began
 * @property {Count | null} finished requests that completed during the drain
 * @property {Count | null} aborted requests that the client aborted
 * @property {Count | null} moved connections that a sibling took over
 * @property {Count | null} refused offers that no sibling took
 * @property {Count | null} takenBack offers that no sibling took, served here to the end
 * @property {Count | null} replayed requests that a sibling had to answer instead
 * @property {Count | null} closedByClient connections
 * @property {Count | null} closedAfterResponse connections closed by Connection: close
 * @property {Count | null} closedIdle connections
 * @property {Count | null} streamsCut WebSockets and raw connections, which only the app can end
 * @property {Count | null} cut other connections that ended with a request in flight
 * @property {Count | null} unacked offers that were never acknowledged: their outcome is not known
 * @property {Count | null} unaccounted connections of a worker that gave no account: their requests are not known
 * @property {boolean} lost the worker gave no account; cut is by its last beat
 * @property {'retired' | 'killed' | 'crashed' | null} ended killed: by recycle, at --kill-timeout or for want of an
 *   account
 * @property {NamedCut[]} cuts each request that was cut
 * @property {Record<string, Count>} restarted WebSockets closed for a service restart (1012), whatever their end, by
 *   the reason for which they did not move
 * @property {Count} dropped requests that the client lost during it
 *
 * @typedef {object} NamedCut
 * @property {string | null} method null: the request head was incomplete, or the protocol is not HTTP
 * @property {string | null} path without its query
 * @property {number | null} ageMs time in flight
 * @property {number | null} remotePort the client's port
 * @property {boolean} upgraded such as a WebSocket, which only the app can end
 *
 * @typedef {'recycle' | 'scale' | 'stop' | 'unfinished'} Kind
 * @typedef {typeof ACCOUNT[number]} Counted
 */

/** @import { Count } from '../core/journal-field' */
/** @import { ReadLine } from '../lines' */
/** @typedef {'recycled' | 'scaled' | 'stopped'} Ended */

const { LONGEST_WHY, MOST_WHYS, streamsCut } = require('../core/account')
const { fromNames } = require('../core/fields')
const { asCount, asNumber, asObject, asText } = require('../core/journal-field')

const SLACK_MS = 1000 // a line is written shortly after its event

const ENDED = /** @type {const} */ (['retired', 'killed', 'crashed'])

/** The account of the connections and requests. */
const ACCOUNT = /** @type {const} */ (['connections', 'inFlight', 'finished', 'aborted', 'moved', 'refused',
  'takenBack', 'replayed', 'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'streamsCut', 'unacked',
  'unaccounted'])
const NO_ACCOUNT = fromNames(ACCOUNT, () => null)

/**
 * @param {number} id @param {Kind} kind @param {ReadLine<Ended>} line @param {number} t its time
 * @param {{ drainAt: number | null, retiredAt: number | null } | undefined} worker its earlier lines
 * @param {Record<Counted, number | null>} account @param {NamedCut[]} cuts @returns {RecycleEvent}
 */
function endedEvent (id, kind, line, t, worker, account, cuts) {
  const drainMs = asNumber(line.drainMs)
  const tookMs = asNumber(line.tookMs)
  const readyMs = asNumber(line.readyMs)
  const how = asText(line.how)
  const beganAt = t - (tookMs ?? drainMs ?? 0)
  // By its durations, if the journal begins in the middle of the event, or the clock was set meanwhile.
  const isMeanwhile = (/** @type {number | null | undefined} */ time) =>
    typeof time === 'number' && time <= t && (tookMs === null || time >= beganAt - SLACK_MS) ? time : null
  const drainAt = isMeanwhile(worker?.drainAt) ??
    (tookMs === null || how === 'drain-first' ? beganAt : Math.min(t, beganAt + (readyMs ?? 0)))
  return {
    id,
    kind,
    slot: asNumber(line.slot),
    oldPid: asNumber(line.oldPid),
    pid: asNumber(line.pid),
    reason: asText(line.reason),
    how,
    beganAt: Math.min(beganAt, drainAt),
    drainAt,
    drainedAt: Math.min(t, drainAt + (drainMs ?? 0)),
    retiredAt: isMeanwhile(worker?.retiredAt) ?? t,
    t,
    readyMs,
    drainMs,
    tookMs,
    rssBefore: asNumber(line.rssBefore),
    rssAfter: asNumber(line.rssAfter),
    ...account,
    lost: line.lost === true,
    ended: ENDED.find(how => how === line.ended) ?? null,
    cuts,
    restarted: restartedOf(line),
    dropped: 0
  }
}

/**
 * @param {number} id
 * @param {{ pid: number | null, slot: number | null, reason: string | null, drainAt: number, t: number }} known
 * @returns {RecycleEvent}
 */
function unfinishedEvent (id, { pid, slot, reason, drainAt, t }) {
  const worker = { drainAt, retiredAt: null }
  const event = endedEvent(id, 'unfinished', { slot, oldPid: pid, reason }, t, worker, NO_ACCOUNT, [])
  return { ...event, drainedAt: t }
}

/**
 * The account of a line, by core/account.js's names; of `cut` the streams are apart.
 * @param {ReadLine<Ended>} line @returns {Record<Counted, number>}
 */
function accountOf (line) {
  const account = fromNames(ACCOUNT, name => asCount(line[/** @type {'cut'} */ (name)]))
  const cuts = Array.isArray(line.cuts) ? line.cuts : []
  account.streamsCut = streamsCut({ cut: account.cut, cuts, unnamedStreams: asCount(line.unnamedStreams) })
  account.cut -= account.streamsCut
  // Older journals have lost accounts without `unaccounted`.
  if (line.lost === true && line.unaccounted === undefined) {
    account.unaccounted = Math.max(0, account.connections - account.cut - account.streamsCut)
  }
  return account
}

/** @param {ReadLine<Ended>} line @returns {RecycleEvent['restarted']} */
function restartedOf ({ restarted }) {
  return Object.fromEntries(Object.entries(asObject(restarted)).slice(0, MOST_WHYS)
    .map(([why, number]) => /** @type {const} */ ([why.slice(0, LONGEST_WHY), asCount(number)]))
    .filter(([, number]) => number > 0))
}

module.exports = { ACCOUNT, accountOf, endedEvent, unfinishedEvent }
