'use strict'

/**
 * No verdict without knowledge: a journal in which something is missing is neither clean nor a failure, but incomplete.
 */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { readReport } = require('../../../lib/tools/report')
const { ACCOUNT, T0, line, fleetStart, spawn, recycle, clientStart, tick, clientEnd } = require('./written')

const start = (ms, pid = 1) => ({ ...fleetStart({ pid, options: { workers: 2, metric: 'rss', intervalMs: 1000 } }), t: T0 + ms })
const stop = (ms, recycles = 0) => line(ms, 'fleet.stop', { recycles, failure: null })
const sample = (ms, pid, ageMs) => line(ms, 'worker.sample', { slot: 0, pid, rssBytes: 1, requests: 1, silentMs: 1, ageMs })
const drain = ms => line(ms, 'worker.drain', { slot: 0, pid: 100, reason: 'rss', connections: 10, inFlight: 4 })
const at = ms => new Date(T0 + ms).toISOString()

/**
 * @param {any} t tap's @param {(Record<string, any> | string)[][]} files
 * @param {{ now?: number, isAlive?: () => boolean }} [machine]
 */
async function reportOf (t, files, { now = T0 + 1e9, isAlive = () => false } = {}) {
  const folder = t.testdir(Object.fromEntries(files.map((lines, i) => [`${i}.ndjson`, lines.map(one => typeof one === 'string' ? one : `${JSON.stringify(one)}\n`).join('')])))
  const { report } = await readReport(files.map((_, i) => path.join(folder, `${i}.ndjson`)), { now, isAlive })
  return report
}

for (const [title, lines, text] of /** @type {const} */ ([
  ['a fleet that stopped', [start(0), ...recycle(1000), stop(2000, 1)], '0 cut over 1 recycle'],
  ['two fleets, one after the other', [start(0), stop(1000), start(90_000, 2), stop(91_000)], '0 cut over 0 recycles'],
  ['a fleet that left to its successor', [start(0), { ...start(10, 2), predecessor: 1 }, line(20, 'fleet.upgraded', { pid: 2, oldPid: 1 }), line(30, 'fleet.left', { pid: 2 }), stop(40)], '0 cut over 0 recycles'],
  ['a successor that did not take over', [start(0), { ...start(10, 2), predecessor: 1 }, stop(20), line(30, 'fleet.upgrade-failed', { pid: 2, why: 'x' }), stop(40)], '0 cut over 0 recycles'],
  ['a successor, which tells its own recycles alone', [start(0), ...recycle(1), { ...start(10, 2), predecessor: 1 }, line(20, 'fleet.upgraded', { pid: 2, oldPid: 1 }), line(30, 'fleet.left', { pid: 2 }), ...recycle(40), stop(50, 1)], '0 cut over 2 recycles'],
  ['a predecessor that runs the fleet again', [start(0), ...recycle(1), { ...start(10, 2), predecessor: 1 }, line(20, 'fleet.upgraded', { pid: 2, oldPid: 1 }), line(30, 'fleet.resumed', { pid: 1, oldPid: 2 }), ...recycle(40), stop(50, 2)], '0 cut over 2 recycles'],
  ['a predecessor that runs the fleet again, and a successor that ends then', [start(0), { ...start(10, 2), predecessor: 1 }, line(20, 'fleet.upgraded', { pid: 2, oldPid: 1 }), line(30, 'fleet.resumed', { pid: 1, oldPid: 2 }), { ...stop(35), pid: 2 }, ...recycle(40), line(45, 'fleet.memory'), { ...stop(50, 1), pid: 1 }], '0 cut over 1 recycle'],
  ['a predecessor that runs the fleet again, as its successor was killed', [start(0), { ...start(10, 2), predecessor: 1 }, line(30, 'fleet.resumed', { pid: 1, oldPid: 2 }), stop(50)], '0 cut over 0 recycles'],
  ['files that were rotated away, by two primaries', [start(0), line(20, 'journal.end', { why: 'rotated' }), line(0, 'journal.begin', { why: 'rotated' }), { ...start(10, 2), predecessor: 1 }, line(5, 'journal.begin', { why: 'rotated' }), line(12, 'fleet.memory'), line(11, 'fleet.memory'), line(12, 'journal.begin', { why: 'rotated' }), stop(15), stop(20)], '0 cut over 0 recycles'],
  ['a file that was rotated away', [start(0), line(20, 'journal.end', { why: 'rotated' })], '0 cut over 0 recycles'],
  ['an admin port that opens before the start, and again after a stop', [line(0, 'fleet.admin', { url: '' }), start(1), stop(40), line(50, 'fleet.admin', { url: '' }), start(51), stop(90)], '0 cut over 0 recycles'],
  ['other output between the lines', [start(0), 'listening on 3000\n', '{"level":30,"event":"worker.ready"}\n', stop(40)], '0 cut over 0 recycles'],
  ['a clock that was set forward, or a machine that slept: the workers grew no older', [start(0), spawn(1, 0, 100), sample(10, 100, 5), sample(7_200_010, 100, 1005), stop(7_200_020)], '0 cut over 0 recycles'],
  ['a machine that slept, and said so', [start(0), spawn(1, 0, 100), sample(10, 100, 5), line(7_200_000, 'fleet.slept', { sleptMs: 7_199_000 }), sample(7_200_010, 100, 7_200_000), stop(7_200_020)], '0 cut over 0 recycles']
])) {
  t.test(`${title}: complete`, async t => {
    t.same((await reportOf(t, [(lines)])).verdict, { ok: true, exitCode: 0, text })
  })
}

for (const [title, lines, text] of /** @type {const} */ ([
  ['a primary that was killed', [start(0), sample(500, 100, 1)], `from ${at(500)} on (the journal ends before the fleet does)`],
  ['a journal that ends in a drain', [start(0), drain(700)], `from ${at(700)} on (the journal ends before the fleet does)`],
  ['two starts and one stop', [start(0), line(500, 'fleet.memory'), start(9000, 2), stop(9500)], `from ${at(500)} to ${at(9000)} (the supervisor ended without a stop)`],
  ['a primary that was killed, and whose workers served on', [start(0), spawn(1, 0, 100), line(500, 'fleet.memory'), line(600, 'worker.orphaned', { slot: 0, pid: 100 }), start(9000, 2), { ...spawn(9001, 0, 100), adopted: true }, sample(9002, 100, 1), stop(9500)], `from ${at(500)} to ${at(9000)} (the supervisor ended without a stop)`],
  ['a disk that was full', [start(0), line(900, 'journal.gap', { lines: 7, from: T0 + 100, to: T0 + 800, why: 'ENOSPC' }), stop(9500)], `from ${at(100)} to ${at(800)} (7 lines could not be written: ENOSPC)`],
  ['a line that cannot be read', [start(0), line(500, 'fleet.memory'), '{"v":1,"t":17,"event":"recy\n', line(600, 'fleet.memory'), stop(9500)], `from ${at(500)} to ${at(600)} (1 line cannot be read)`],
  ['a line of which the beginning is missing', [start(0), 'x","event":"recycled","cut":3}\n', stop(9500)], `from ${at(0)} to ${at(9500)} (1 line cannot be read)`],
  ['lines of another version', [start(0), '{"v":2,"t":17,"event":"recycled"}\n', stop(9500)], `from ${at(0)} to ${at(9500)} (1 line cannot be read)`],
  ['a file between two others that is not given', [start(0), sample(10, 100, 5), sample(7_200_000, 100, 7_199_995), stop(7_200_020)], `from ${at(10)} to ${at(7_200_000)} (there are no lines)`],
  ['a file of less than a minute that is not given', [start(0), line(20, 'fleet.memory'), line(20, 'journal.end', { why: 'rotated' }), line(2000, 'journal.begin', { why: 'rotated' }), stop(2020)], `from ${at(20)} to ${at(2000)} (a file of the journal is missing)`],
  ['lines that a full disk lost before a rotation', [start(0), line(900, 'journal.gap', { lines: 7, from: T0 + 100, to: T0 + 800, why: 'ENOSPC' }), line(800, 'journal.begin', { why: 'rotated' }), stop(9500)], `from ${at(100)} to ${at(800)} (7 lines could not be written: ENOSPC)`],
  ['a stop of a successor that runs the fleet no more', [start(0), { ...start(10, 2), predecessor: 1 }, line(20, 'fleet.upgraded', { pid: 2, oldPid: 1 }), line(30, 'fleet.resumed', { pid: 1, oldPid: 2 }), { ...stop(35), pid: 2 }], `from ${at(35)} on (the journal ends before the fleet does)`],
  ['recycles that are missing', [start(0), ...recycle(1000), stop(2000, 3)], `to ${at(2000)} (2 recycles of 3 are missing)`],
  ['two fleets in one journal', [start(0), spawn(1, 0, 100), start(10, 2), spawn(11, 0, 200), sample(20, 100, 5), stop(30), stop(40)], `from ${at(1)} to ${at(10)} (the supervisor ended without a stop), and 1 other gap`],
  ['a drain without an account', [start(0), drain(700), stop(900)], `from ${at(700)} on (a drain has no account)`]
])) {
  t.test(`${title}: incomplete`, async t => {
    const { verdict } = await reportOf(t, [(lines)])
    t.match(verdict, { ok: false, exitCode: 2 })
    t.ok(verdict.text.startsWith(`incomplete: nothing is known ${text}; recorded: 0 cut over `), verdict.text)
  })
}

t.test('what was cut is a failure, whatever is missing beside it', async t => {
  const { verdict } = await reportOf(t, [[start(0), line(700, 'stopped', { slot: 0, pid: null, oldPid: 1, reason: 'stop', ...ACCOUNT, moved: 9, cut: 1 })]])
  t.match(verdict, { ok: false, exitCode: 1, text: /^1 cut over 0 recycles; incomplete: nothing is known from / })
})

t.test('a fleet that runs on: its process is there, and its last line is not old', async t => {
  const lines = [start(0), drain(700)]
  t.match((await reportOf(t, [lines], { now: T0 + 5000, isAlive: () => true })).verdict, { ok: true, exitCode: 0 })
  t.match((await reportOf(t, [lines], { now: T0 + 5000, isAlive: () => false })).verdict, { exitCode: 2 })
  t.match((await reportOf(t, [lines], { now: T0 + 500_000, isAlive: () => true })).verdict, { exitCode: 2 })
  t.match((await reportOf(t, [[...lines, '{"v":1,"t":17,"eve']], { now: T0 + 5000, isAlive: () => true })).verdict, { exitCode: 0 }, 'its last line is being written')
})

t.test("a client's record that is cut short, or has no request, proves nothing", async t => {
  const short = await reportOf(t, [[start(0), clientStart(0), tick(0, [[1, 90]]), stop(900)]])
  t.match(short.verdict, { exitCode: 2, text: /^incomplete: .* \(the client's record is cut short\); recorded: 0 dropped of 90 requests/ })
  const none = await reportOf(t, [[start(0), clientStart(0), clientEnd(800, 0, 0), stop(900)]])
  t.match(none.verdict, { exitCode: 2, text: /\(the client sent no request\)/ })
})

t.test('a journal of before this check is judged by the same rules', async t => {
  const folder = path.join(__dirname, '..', '..', 'fixtures', 'journals')
  for (const file of fs.readdirSync(folder).filter(name => /ndjson/.test(name))) {
    const { report } = await readReport([path.join(folder, file)])
    t.type(report.verdict.exitCode, 'number', file)
  }
})
