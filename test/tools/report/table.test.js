'use strict'

const t = require('tap')
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const { fleetStart, recycle, cut, clientStart, clientEnd, drop, tick, line, ACCOUNT } = require('./written')

function text (lines, how) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return formatReport({ ...figures.summary(), skippedLines: 0 }, how)
}

t.test('the verdict comes first, then recycles, drops, disagreements and latency', async t => {
  const report = text([
    fleetStart(), clientStart(), tick(0, [[1, 100]]), tick(1000, [[3.25, 100]]),
    ...recycle(1000, { slot: 3, oldPid: 4101, pid: 4202, cut: 1, moved: 9, cuts: [cut(5000)] }),
    drop(1140, { localPort: 5000, path: '/cart', method: 'POST' }), drop(5000, { localPort: 2, error: 'status', status: 503 }), drop(6000, { localPort: 3 }),
    clientEnd(2000, 200, 3)
  ])
  const lines = report.split('\n')
  t.equal(lines[0], '3 dropped of 200 requests over 1 recycle; the supervisor cut 1')
  t.match(report, /slot +old → new pid +reason +RSS MiB +ready +drain +flight +moved +cut\n/)
  t.match(report, /1 +3 +4101 → 4202 +rss +90 → 50 +50ms +100ms +4 +9 +1\n/)
  t.match(report, /reset +POST \/cart +#1\* +drain\n/)
  t.match(report, /status 503 +GET \/ +– +none\n/)
  t.match(report, /outside any recycle +1 +0\n/)
  t.match(report, /latency +p50 +p90 +p99 +p99.9 +max +requests\nsteady +1ms .*\nrecycling +3.25ms /)
})

t.test('it shows the requests possibly cut by a worker without an account, and the connections of a crash', async t => {
  const report = text([
    ...recycle(1000, { connections: 3, moved: 0, cut: 1, unaccounted: 2, lost: true }),
    ...recycle(2000, { connections: 1, moved: 0, cut: 1, lost: true }),
    line(5000, 'worker.crash', { slot: 1, pid: 300, code: 1, signal: null, connections: 7, inFlight: 0 })
  ])
  t.match(report, / 0 +1–3\n.* 0 +1\?\n/)
  t.match(report, /crashed +slot +pid +how +connections +in flight\n.* 1 +300 +code 1 +7 +0\n/)
  t.match(report, /^cut 0–2, 1\?: the worker gave no account/m)
})

t.test('a worker that the kernel killed is named, with what to do', async t => {
  const report = text([line(5000, 'worker.crash', { slot: 1, pid: 300, code: null, signal: 'SIGKILL', oomKilled: true, connections: 7, inFlight: 0 })])
  t.match(report, / 1 +300 +OOM-killed +7 +0\n/)
  t.match(report.replaceAll('\n', ' '), "the kernel killed 1 worker because memory ran out: lower --max-rss (auto computes it), or raise the container's limit")
})

t.test('WebSockets that were closed with 1012 are named by their reason', async t => {
  const report = text([...recycle(1000, { restarted: { tls: 1200, busy: 1 } })])
  t.match(report, '\n1,201 WebSockets closed for a service restart (1012): tls 1,200, busy 1\n')
  t.notMatch(text([...recycle(1000)]), '1012')
})

t.test('it fits 80 columns, whatever the figures are', async t => {
  const huge = 123_456_789
  const account = Object.fromEntries(Object.entries(ACCOUNT)
    .map(([name, value]) => [name, value === 4 || value === 10 ? huge : value]))
  const report = text([
    fleetStart({ app: `/srv/${'long/'.repeat(40)}app.js`, node: 'v26.10.0-nightly20260101abcdef', options: { workers: 1024, metric: 'rss' } }),
    clientStart(),
    ...recycle(1000, { ...account, slot: 1023, oldPid: 4_194_303, pid: 4_194_304, reason: 'a-reason-of-some-length', cut: 3, unacked: huge, unaccounted: huge, rssBefore: 99_999 * 1024 ** 2, rssAfter: 99_999 * 1024 ** 2, drainMs: 29_999, readyMs: 28_888, lost: true }),
    line(5000, 'worker.crash', { slot: 1023, pid: 4_194_304, code: null, signal: 'SIGSEGV', connections: huge, inFlight: huge }),
    drop(1140, { localPort: 5000, path: `/${'x'.repeat(2000)}`, error: 'closed-during-response' }),
    tick(0, [[123_456, 5e9]]), tick(1000, [[98_765, 5e9]]),
    clientEnd(2000, 1e10, 1e9)
  ])
  for (const one of report.split('\n').slice(1)) t.ok(one.length <= 80, `${one.length}: ${one}`)
})

t.test('a drop is red and a clean run is green, only where colours are enabled', async t => {
  const clean = [...recycle(10), clientStart(), clientEnd(100, 5, 0)]
  t.match(text(clean, { colors: true }).split('\n')[0], '\x1b[32m')
  t.match(text([...clean, drop(50)], { colors: true }).split('\n')[0], '\x1b[31m')
  t.notMatch(text([...clean, drop(50)]), '\x1b', 'plain unless asked')
})

t.test('control characters in a journal never reach the terminal', async t => {
  const evil = '\x1b]0;owned\x07\r\n\x9b2J\u202e'
  const report = text([
    fleetStart({ app: evil, node: evil }), clientStart(), ...recycle(10, { reason: evil, cut: 1 }),
    drop(50, { path: evil, method: evil, error: evil }), line(60, 'worker.crash', { slot: 0, pid: 1, signal: evil, inFlight: 1 })
  ])
  t.notMatch(report, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/) // eslint-disable-line no-control-regex
  t.match(report, '\\u{1b}')
})

t.test('a figure of more digits than a line has columns is wrapped', async t => {
  const report = text([fleetStart(), ...recycle(10, { unacked: 1e200 })])
  t.match(report, /000,000 connections handed/)
  for (const one of report.split('\n').slice(1)) t.ok(one.length <= 80, one)
})
