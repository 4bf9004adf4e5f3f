'use strict'

/** Journals written by hand, by the documented format, so that a test knows every expected figure. */

const T0 = Date.UTC(2026, 0, 1, 12)
const ACCOUNT = {
  connections: 10,
  inFlight: 4,
  finished: 4,
  aborted: 0,
  moved: 10,
  refused: 0,
  takenBack: 0,
  replayed: 0,
  closedByClient: 0,
  closedAfterResponse: 0,
  closedIdle: 0,
  cut: 0,
  unacked: 0,
  unaccounted: 0,
  cuts: [],
  lost: false
}

/** @param {number} ms since the start @param {string} event @param {object} [fields] */
function line (ms, event, fields = {}) {
  return { v: 1, t: T0 + ms, event, ...fields }
}

function fleetStart (fields = {}) {
  return line(0, 'fleet.start', { pid: 1, app: '/srv/app.js', args: [], node: 'v20.0.0', options: { workers: 2, metric: 'rss' }, ...fields })
}

function spawn (ms, slot, pid, softBytes = 100 * 1024 ** 2) {
  return line(ms, 'worker.spawn', { slot, pid, generation: 0, budget: { metric: 'rss', softBytes } })
}

function sample (ms, slot, pid, rssBytes) {
  return line(ms, 'worker.sample', { slot, pid, rssBytes, pssBytes: null, ussBytes: null, requests: 1, silentMs: 1 })
}

/**
 * A recycle as the supervisor writes it: the replacement is ready 50 ms after `ms`, then the drain, then 20 ms until
 * the old worker is gone.
 */
function recycle (ms, { slot = 0, oldPid = 100, pid = 101, drainMs = 100, ...account } = {}) {
  const drainAt = ms + 50
  const end = drainAt + drainMs + 20
  return [
    spawn(ms, slot, pid),
    line(ms + 50, 'worker.ready', { slot, pid, readyMs: 50 }),
    line(drainAt, 'worker.drain', { slot, pid: oldPid, reason: 'rss', connections: 10, inFlight: 4 }),
    line(end, 'worker.retire', { slot, pid: oldPid, code: 0, signal: null, inFlight: 0 }),
    line(end, 'recycled', {
      slot, pid, oldPid, reason: 'rss', how: 'surge', ...ACCOUNT, readyMs: 50, drainMs, tookMs: 50 + drainMs + 20, rssBefore: 90 * 1024 ** 2, rssAfter: 50 * 1024 ** 2, ...account
    })
  ]
}

function cut (remotePort, fields = {}) {
  return { method: 'GET', path: '/', ageMs: 10, remotePort, upgraded: false, ...fields }
}

function clientStart (ms = 0) {
  return line(ms, 'client.start', { url: 'http://127.0.0.1:3000/', connections: 10, durationMs: 1000, keepAlive: true, method: 'GET', path: '/', rate: null, expect: [[200, 399]], loadWorkers: 1 })
}

function tick (ms, latency, fields = {}) {
  const requests = latency.reduce((sum, [, count]) => sum + count, 0)
  return line(ms, 'client.tick', { ms: 250, requests, dropped: 0, latency, ...fields })
}

function drop (ms, fields = {}) {
  return line(ms, 'client.drop', { startedAt: T0 + ms - 5, error: 'reset', status: null, method: 'GET', path: '/', localPort: 5000, reused: true, ...fields })
}

function clientEnd (ms, requests, dropped) {
  return line(ms, 'client.end', { requests, dropped, sockets: 10 })
}

function ndjson (lines) {
  return lines.map(one => `${JSON.stringify(one)}\n`).join('')
}

module.exports = {
  T0, ACCOUNT, line, fleetStart, spawn, sample, recycle, cut, clientStart, tick, drop, clientEnd, ndjson
}
