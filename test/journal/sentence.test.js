'use strict'

const t = require('tap')
const { sentence, prettyLine, levelOf, isQuiet } = require('../../lib/journal/sentence')

const RECYCLED = { v: 1, t: Date.parse('2026-01-02T03:04:05'), event: 'recycled', slot: 2, pid: 20, oldPid: 10, reason: 'rss', cut: 0, moved: 7, finished: 3, drainMs: 93, rssBefore: 110 * 1024 ** 2, rssAfter: 55 * 1024 ** 2 }

t.test('a line is a sentence, with its local time', async t => {
  t.equal(prettyLine(RECYCLED), '03:04:05 recycled slot 2, 10 → 20 (rss): 0 cut, 7 moved, 3 finished in 93ms, RSS 110 MiB → 55 MiB')
  t.match(sentence({ ...RECYCLED, restarted: { tls: 2, busy: 1 } }), '0 cut, 7 moved, 3 WebSockets closed for a service restart, 3 finished in 93ms')
  t.equal(sentence({ event: 'of.tomorrow' }), 'of.tomorrow')
})

t.test('a slot closes, be it by a smaller number or as a canary leaves', async t => {
  t.equal(sentence({ event: 'scaled', slot: 2, oldPid: 10, reason: 'scale', cut: 0, moved: 4 }), 'closed slot 2: 0 cut, 4 moved')
})

t.test('unknown connections are shown, and are an error', async t => {
  const lost = { ...RECYCLED, lost: true, unaccounted: 2 }
  t.match(sentence(lost), '3 finished, 2 unaccounted for, the worker gave no account in 93ms')
  t.equal(levelOf(lost), 'error')
  t.equal(sentence({ event: 'worker.crash', slot: 0, pid: 1, signal: 'SIGKILL', connections: 3, inFlight: 0 }), 'crashed slot 0 (1): SIGKILL, 3 connections, 0 in flight')
})

t.test('coloured by level: errors are red, warnings yellow', async t => {
  const at = (/** @type {Record<string, any>} */ line) => prettyLine({ t: 0, ...line }, { colors: true }).replace(/^\S+ /, '')
  t.notMatch(at(RECYCLED), /\x1b/) // eslint-disable-line no-control-regex
  t.match(at({ ...RECYCLED, cut: 1 }), /^\x1b\[31mrecycled .*\x1b\[39m$/) // eslint-disable-line no-control-regex
  t.match(at({ event: 'worker.crash', slot: 0, pid: 1, signal: 'SIGKILL', inFlight: 0 }), /^\x1b\[33mcrashed .*\x1b\[39m$/) // eslint-disable-line no-control-regex
  t.same([RECYCLED, { ...RECYCLED, cut: 1 }, { event: 'fleet.failed' }, { event: 'fleet.warning' }].map(levelOf), ['info', 'error', 'error', 'warn'])
})

t.test('a step of a recycle, which `recycled` tells, is for --log json and --log-level debug', async t => {
  t.same(['worker.spawn', 'worker.drain', 'worker.retire'].map(event => levelOf({ event })), ['debug', 'debug', 'debug'])
  t.same([null, 10].map(oldPid => levelOf({ event: 'worker.ready', oldPid })), ['info', 'debug'])
  t.same(['reload', 'rss'].map(reason => levelOf({ event: 'worker.condemn', reason })), ['debug', 'info'])
  t.same(['not-ready', 'kill-timeout'].map(killedFor => levelOf({ event: 'worker.retire', killedFor })), ['info', 'warn'])
  t.equal(levelOf({ event: 'worker.retire', oomKilled: true }), 'info')
})

t.test('control characters in the text of an app are escaped', async t => {
  const line = prettyLine({ t: 0, event: 'worker.request', slot: 0, pid: 1, reason: 'stale\u001b[2J\r\n\u0007\u009b1m' })
  t.match(line, 'slot 0 (1) asks to be recycled: stale\\u{1b}[2J\\u{d}\\u{a}\\u{7}\\u{9b}1m')
})

t.test('samples have no sentence', async t => {
  t.ok(isQuiet({ event: 'worker.sample' }))
  t.notOk(isQuiet(RECYCLED))
})
