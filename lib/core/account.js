'use strict'

/**
 * What became of everything that was here when a drain began. Every connection ends in exactly one of `moved`,
 * `closedByClient`, `closedAfterResponse`, `closedIdle`, `cut`, `unacked` and `unaccounted`, so that the sum of these is
 * `connections`: the supervisor's own audit, one of the two witnesses for "nothing was dropped".
 *
 * @typedef {object} Cut something that was in flight when the time was up
 * @property {string | null} method null: no more than part of a request's head had come, or the protocol is not HTTP
 * @property {string | null} path without its query
 * @property {number} ageMs
 * @property {number | null} remotePort
 * @property {boolean} upgraded an upgraded or raw connection, which is the app's own to end
 *
 * @typedef {object} Account
 * @property {number} connections open, or waiting in the inbox, when the drain began, or accepted before it stopped accepting
 * @property {number} inFlight requests in flight when the drain began
 * @property {number} finished requests that ended in full during the drain
 * @property {number} aborted requests that their client gave up during the drain
 * @property {number} moved connections that a sibling took over
 * @property {number} refused offers that no sibling took
 * @property {number} takenBack offers taken back and served here to the end
 * @property {number} replayed requests that a sibling had to answer instead: none, for a connection moves when nothing is under way on it
 * @property {number} closedByClient
 * @property {number} closedAfterResponse by `Connection: close`, whichever side asked for it
 * @property {number} closedIdle
 * @property {number} cut connections that ended with something in flight
 * @property {number} unacked offers whose outcome is not known
 * @property {number} unaccounted connections that ended with a worker that gave no account: what was on them is not known
 * @property {Cut[]} cuts what was cut, by name
 */

const { count, flag, text, orNull, listOf, record } = require('./shape')

const LONGEST_PATH = 2000
const CUT = record({ method: orNull(text(100)), path: orNull(text(LONGEST_PATH)), ageMs: count, remotePort: orNull(count), upgraded: flag })
/** What a worker says when it has drained. */
const ACCOUNT = record({
  ...Object.fromEntries(Object.keys(openAccount(0, 0)).map(field => [field, count])),
  cuts: listOf(CUT)
})

/** @param {number} connections @param {number} inFlight @returns {Account} */
function openAccount (connections, inFlight) {
  return {
    connections,
    inFlight,
    finished: 0,
    aborted: 0,
    moved: 0,
    refused: 0,
    takenBack: 0,
    replayed: 0,
    closedByClient: 0,
    closedAfterResponse: 0,
    closedIdle: 0,
    cut: 0,
    unacked: 0,
    unaccounted: 0,
    cuts: []
  }
}

/**
 * The account of a worker that gave none, by what was last known of it. A connection with a request in flight was cut; on
 * any other there may have been a request, too, that the worker had not read.
 *
 * @param {number} connections
 * @param {number} inFlight
 * @returns {Account}
 */
function lostAccount (connections, inFlight) {
  const cut = Math.min(connections, inFlight) // by one connection there may have come several
  return { ...openAccount(connections, inFlight), cut, unaccounted: connections - cut }
}

module.exports = { ACCOUNT, LONGEST_PATH, openAccount, lostAccount }
