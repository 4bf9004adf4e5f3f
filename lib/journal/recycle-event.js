'use strict'

/**
 * @typedef {object} RecycleEvent a worker that was drained, with its account. Times in ms since the epoch, durations in
 *   ms, sizes in bytes; null: the journal does not record it
 * @property {number} id 1, 2, 3 … in the order of their ends
 * @property {Kind} kind `unfinished`: the journal ends before the drain
 * @property {number | null} slot
 * @property {number | null} oldPid
 * @property {number | null} pid of the replacement
 * @property {string | null} reason
 * @property {string | null} how surge or drain-first
 * @property {number} beganAt the replacement was spawned, or the drain began
 * @property {number} drainAt
 * @property {number} drainedAt the old worker gave its account
 * @property {number} retiredAt the old worker exited
 * @property {number} t the end of the event
 * @property {number | null} readyMs
 * @property {number | null} drainMs
 * @property {number | null} tookMs
 * @property {number | null} rssBefore
 * @property {number | null} rssAfter
 * @property {Record<string, number> | null} account of the connections and requests, by the names of core/account.js
 * @property {number} cut requests, but for `account.streamsCut`: WebSockets and raw connections, which only the app can
 *   end
 * @property {number} unaccounted connections of a worker that gave no account
 * @property {'retired' | 'killed' | 'crashed' | null} ended null: the journal does not record it
 * @property {boolean} lost the worker gave no account; `cut` is by its last beat
 * @property {{ method: string | null, path: string | null, ageMs: number | null, remotePort: number | null,
 *   upgraded: boolean }[]} cuts
 * @property {Record<string, number>} restarted WebSockets that the worker has closed with 1012, by the reason for which
 *   they did not move
 * @property {number} dropped requests, by the client's record
 *
 * @typedef {'recycle' | 'scale' | 'stop' | 'unfinished'} Kind
 */

const { LONGEST_WHY, MOST_WHYS, streamsCut } = require('../core/account')
const { asCount, asNumber, asObject, asText } = require('../core/journal-field')

const SLACK_MS = 1000 // a line is written shortly after its event

const ENDED = ['retired', 'killed', 'crashed']

const ACCOUNT = ['connections', 'inFlight', 'finished', 'aborted', 'moved', 'refused', 'takenBack', 'replayed',
  'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'streamsCut', 'unacked', 'unaccounted']

/**
 * @param {number} id @param {Kind} kind
 * @param {Record<string, any>} line the journal's `recycled`, `scaled` or `stopped`
 * @param {number} t its time
 * @param {{ drainAt: number | null, retiredAt: number | null } | undefined} worker its earlier lines
 * @param {Record<string, number>} account @param {RecycleEvent['cuts']} cuts @returns {RecycleEvent}
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
  const drainAt = isMeanwhile(worker?.drainAt) ?? (tookMs === null || how === 'drain-first' ? beganAt : Math.min(t, beganAt + (readyMs ?? 0)))
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
    account,
    cut: account.cut,
    unaccounted: account.unaccounted,
    lost: line.lost === true,
    ended: ENDED.includes(line.ended) ? line.ended : null,
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
  return {
    id,
    kind: 'unfinished',
    slot,
    oldPid: pid,
    pid: null,
    reason,
    how: null,
    beganAt: drainAt,
    drainAt,
    drainedAt: t,
    retiredAt: t,
    t,
    readyMs: null,
    drainMs: null,
    tookMs: null,
    rssBefore: null,
    rssAfter: null,
    account: null,
    cut: 0,
    unaccounted: 0,
    lost: false,
    ended: null,
    cuts: [],
    restarted: {},
    dropped: 0
  }
}

/**
 * The account of a line, by core/account.js's names; of `cut` the streams are apart.
 *
 * @param {Record<string, any>} line @returns {Record<string, number>}
 */
function accountOf (line) {
  const account = Object.fromEntries(ACCOUNT.map(name => [name, asCount(line[name])]))
  const cuts = Array.isArray(line.cuts) ? line.cuts : []
  account.streamsCut = streamsCut({ cut: account.cut, cuts, unnamedStreams: asCount(line.unnamedStreams) })
  account.cut -= account.streamsCut
  // Older journals have lost accounts without `unaccounted`.
  if (line.lost === true && line.unaccounted === undefined) {
    account.unaccounted = Math.max(0, account.connections - account.cut - account.streamsCut)
  }
  return account
}

/** @param {Record<string, any>} line @returns {RecycleEvent['restarted']} */
function restartedOf ({ restarted }) {
  return Object.fromEntries(Object.entries(asObject(restarted)).slice(0, MOST_WHYS)
    .map(([why, number]) => /** @type {const} */ ([why.slice(0, LONGEST_WHY), asCount(number)]))
    .filter(([, number]) => number > 0))
}

/** @typedef {Exclude<keyof import('../core/account').Account, 'cuts'>} AccountName */
const NO_ACCOUNT = Object.freeze(Object.fromEntries(ACCOUNT.map(name => [name, null])))

/** As a report and the live page have it. @param {RecycleEvent} event */
function shownEvent ({ account, ...event }) {
  const counts = /** @type {Record<AccountName, number | null>} */ (account ?? NO_ACCOUNT)
  return { ...event, ...counts }
}

module.exports = { ACCOUNT, accountOf, endedEvent, shownEvent, unfinishedEvent }
