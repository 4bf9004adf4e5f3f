'use strict'

const Ajv = require('ajv/dist/2020')
const fc = require('fast-check')
const t = require('tap')
const schema = require('../../report-schema').reportSchema()
const { Figures } = require('../../../lib/tools/report/figures')
const written = require('./written')

const { T0, ACCOUNT, line, fleetStart, spawn, sample, recycle, cut, clientStart, tick, drop, clientEnd } = written

function figuresOf (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return { ...figures.summary(), skippedLines: 0 }
}

/** The schema allows fields that it does not know, so that a version can grow; here every field must be known. */
const isValid = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(closed(schema))

function closed (part) {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(closed)
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]))
  return part.type === 'object' && part.properties ? { additionalProperties: false, ...copy } : copy
}

const RUN = [
  fleetStart(), spawn(1, 0, 100), spawn(1, 1, 200), sample(100, 0, 100, 60e6), sample(100, 1, 200, 61e6),
  clientStart(0), tick(0, [[1, 90], [2, 10]]), tick(250, [[1, 100]]),
  ...recycle(500, { slot: 0, oldPid: 100, pid: 101 }),
  tick(500, [[5, 100]]), tick(750, [[1, 99]]),
  ...recycle(1000, { slot: 1, oldPid: 200, pid: 201, cut: 1, moved: 9, cuts: [cut(5000)] }),
  tick(1000, [[9, 50]], { dropped: 1 }), drop(1140, { localPort: 5000 }),
  clientEnd(1300, 450, 1),
  line(1400, 'stopped', { slot: 0, pid: null, oldPid: 101, reason: 'stop', ...ACCOUNT, moved: 0, cut: 2, cuts: [cut(1), cut(2)], drainMs: 10 }),
  line(1400, 'scaled', { slot: 1, pid: null, oldPid: 201, reason: 'scale', ...ACCOUNT, moved: 3, cut: 1, cuts: [cut(3)], drainMs: 10 }),
  line(1500, 'worker.crash', { slot: 1, pid: 300, code: null, signal: 'SIGSEGV', connections: 5, inFlight: 2 }),
  line(1600, 'stopped', { slot: 1, pid: null, oldPid: 202, reason: 'stop', ...ACCOUNT, moved: 0, unaccounted: 10, lost: true, drainMs: 10 })
]

t.test('the figures of a run', async t => {
  const report = figuresOf(RUN)
  t.match(report, {
    v: 1, requests: 450, dropped: 1, recycles: 2, crashes: 1, inFlightAtCrashes: 2, moved: 22, cut: 4, byReason: { rss: 2 }, app: '/srv/app.js', workers: 2, from: T0, to: T0 + 1600
  })
  t.equal(report.verdict.text, '1 dropped of 450 requests over 2 recycles; the supervisor cut 4; 1 crash with 5 connections, 2 requests in flight; 10 connections unaccounted for: their requests are not known')
  t.equal(report.verdict.ok, false)
  t.same(report.recycleEvents.map(({ kind, cut, dropped }) => [kind, cut, dropped]),
    [['recycle', 0, 0], ['recycle', 1, 1], ['stop', 2, 0], ['scale', 1, 0], ['stop', 0, 0]], 'cuts when stopping and scaling are cuts')
})

t.test('workers that the kernel killed because memory ran out are counted, crashed or leaving', async t => {
  const left = { code: null, signal: 'SIGKILL', connections: 1, inFlight: 0 }
  const report = figuresOf([
    line(100, 'worker.crash', { slot: 0, pid: 100, ...left, oomKilled: true }),
    line(200, 'worker.crash', { slot: 0, pid: 101, ...left, oomKilled: false }),
    line(300, 'worker.crash', { slot: 0, pid: 102, ...left }),
    line(400, 'worker.drain', { slot: 0, pid: 103, reason: 'rss', connections: 1, inFlight: 0 }),
    line(500, 'worker.retire', { slot: 0, pid: 103, ...left, oomKilled: true })
  ])
  t.match(
    report, { crashes: 3, oomKills: 2, crashEvents: [{ oomKilled: true }, { oomKilled: false }, { oomKilled: false }] }
  )
})

t.test('latency in steady state is kept apart from latency while recycling', async t => {
  const { latency } = figuresOf(RUN)
  t.match(latency.steady, { requests: 299, p50: 1, p99: 2, max: 2 })
  t.match(latency.recycling, { requests: 150, p50: 5, p90: 9, max: 9 })
})

t.test('client records may come before or after those of the supervisor: the figures are the same', async t => {
  const expected = figuresOf(RUN)
  const isClient = one => one.event.startsWith('client.')
  const [client, supervisor] = [RUN.filter(isClient), RUN.filter(one => !isClient(one))]
  t.same(figuresOf([...client, ...supervisor]), expected)
  t.same(figuresOf([...supervisor, ...client]), expected)
  t.same(figuresOf([...supervisor, ...client.reverse()]).latency, expected.latency)
})

t.test('without client records there is no figure of requests', async t => {
  const report = figuresOf(RUN.filter(one => !one.event.startsWith('client.')))
  t.equal(report.requests, null)
  t.equal(report.dropped, null)
  t.equal(report.client, null)
  t.same(report.latency, { steady: null, recycling: null })
  t.same(report.disagreements, [])
  t.equal(report.verdict.text, '4 cut over 2 recycles; 1 crash with 5 connections, 2 requests in flight; 10 connections unaccounted for: their requests are not known')
  const quiet = figuresOf([fleetStart(), ...recycle(10)])
  t.same(quiet.verdict, { ok: true, exitCode: 0, text: '0 cut over 1 recycle' })
  t.equal(figuresOf([fleetStart(), line(5, 'worker.crash', { slot: 0, pid: 1, code: 1, inFlight: 3 })]).verdict.ok, false,
    'requests lost in a crash have no other record')
})

t.test('the verdict has thousands separators, and is good when nothing was lost', async t => {
  const report = figuresOf([...recycle(10), clientStart(), clientEnd(1000, 1_204_331, 0)])
  t.same(report.verdict, { ok: true, exitCode: 0, text: '0 dropped of 1,204,331 requests over 1 recycle' })
})

t.test('connections that ended with a worker that gave no account, or crashed, are never a good verdict without client records', async t => {
  const lost = recycle(10, { connections: 2, inFlight: 0, moved: 0, cut: 0, unaccounted: 2, lost: true })
  const crash = line(500, 'worker.crash', { slot: 1, pid: 300, code: 1, signal: null, connections: 1, inFlight: 0 })
  for (const [lines, text] of [
    [lost, '0 cut over 1 recycle; 2 connections unaccounted for: their requests are not known'],
    [[crash], '0 cut over 0 recycles; 1 crash with 1 connection, 0 requests in flight: its requests are not known'],
    [[...lost, crash], '0 cut over 1 recycle; 1 crash with 1 connection, 0 requests in flight; 2 connections unaccounted for: their requests are not known']
  ]) t.same(figuresOf(lines).verdict, { ok: false, exitCode: 1, text })
  t.match(figuresOf([...lost, crash]), {
    unaccounted: 2,
    connectionsAtCrashes: 1,
    recycleEvents: [{ cut: 0, unaccounted: 2 }],
    crashEvents: [{ connections: 1 }]
  })
  t.same(figuresOf(recycle(10, { connections: 0, lost: true })).verdict.ok, true, 'it had none')
  t.same(figuresOf([{ ...crash, connections: 0 }]).verdict, { ok: true, exitCode: 0, text: '0 cut over 0 recycles; 1 crash with 0 requests in flight' })
})

t.test('a client without drops settles it, where every connection was its own', async t => {
  const lost = recycle(10, { connections: 2, inFlight: 0, moved: 0, cut: 0, unaccounted: 2, lost: true })
  const [start, end] = [clientStart(), clientEnd(1000, 50, 0)]
  const alone = { ...start, isAlone: true }
  t.same(figuresOf([alone, ...lost, end]).verdict, { ok: true, exitCode: 0, text: "0 dropped of 50 requests over 1 recycle; 2 connections unaccounted for: all the client's own" })
  const others = { ok: false, exitCode: 1, text: '0 dropped of 50 requests over 1 recycle; 2 connections unaccounted for: their requests are not known' }
  t.same(figuresOf([start, ...lost, end]).verdict, others)
  t.same(figuresOf([alone, start, ...lost, end, end]).verdict.ok, false, 'with several loads, each must say so')
  t.equal(figuresOf([alone, ...lost, drop(100), clientEnd(1000, 50, 1)]).verdict.ok, false)
})

t.test('an older journal has neither field: the rest of a lost account is unknown, and a crash has the figures of its last sample', async t => {
  const [old] = recycle(10, { lost: true }).slice(-1)
    .map(({ unaccounted, ...fields }) => ({ ...fields, connections: 3, moved: 0, cut: 1 }))
  t.match(figuresOf([old]), { cut: 1, unaccounted: 2 })
  const crash = line(500, 'worker.crash', { slot: 0, pid: 100, code: 1, signal: null, inFlight: 0 })
  t.match(figuresOf([{ ...sample(400, 0, 100, 1e6), connections: 4 }, crash]), {
    connectionsAtCrashes: 4, verdict: { ok: false }
  })
  t.match(figuresOf([crash]), { connectionsAtCrashes: 0, crashEvents: [{ connections: null }] })
})

t.test('a journal whose clock was set back, or forward, in the middle of a recycle gives the recycle by its durations, and counts the same', async t => {
  const days = 3 * 24 * 3600 * 1000
  const lines = [fleetStart(), spawn(0, 0, 100), ...recycle(1000), ...recycle(60_000, { oldPid: 101, pid: 102 }), line(70_000, 'worker.crash', { slot: 0, pid: 102, code: 1, signal: null, connections: 0, inFlight: 0 })]
  const at = lines.findIndex(({ event }) => event === 'worker.retire')
  const expected = figuresOf(lines)
  t.equal(expected.clockSetBackMs, 0)
  for (const stepMs of [-days, days]) {
    const report = figuresOf(lines.map((one, i) => i < at ? one : { ...one, t: one.t + stepMs }))
    t.same(report.verdict, expected.verdict)
    for (const [i, event] of report.recycleEvents.entries()) {
      const { beganAt, drainAt, drainedAt, retiredAt, t: end } = event
      const about = JSON.stringify({ beganAt, drainAt, drainedAt, retiredAt, end })
      t.ok(beganAt <= drainAt && drainAt <= drainedAt && drainedAt <= end && drainAt <= retiredAt &&
        retiredAt <= end, about)
      t.equal(end - beganAt, expected.recycleEvents[i].t - expected.recycleEvents[i].beganAt, about)
    }
    t.equal(report.clockSetBackMs, stepMs < 0 ? days - (lines[at].t - lines[at - 1].t) : 0)
    t.equal(isValid(report), true, JSON.stringify(isValid.errors))
  }
})

t.test('an interrupted load is counted by its ticks, and marked', async t => {
  const report = figuresOf([clientStart(), tick(0, [[1, 40]], { dropped: 2 }), drop(100), drop(100), drop(120)])
  t.match(report, { requests: 40, dropped: 3, client: { wasCutShort: true } })
})

t.test('a drain without an end in the journal stays unfinished', async t => {
  const report = figuresOf([...recycle(0).slice(0, 3), drop(100)])
  t.match(report.recycleEvents, [{ kind: 'unfinished', oldPid: 100, cut: null, moved: null }])
  t.equal(report.recycles, 0)
  t.equal(isValid(report), true, JSON.stringify(isValid.errors))
})

t.test('a journal that begins in the middle of a recycle gives it by its durations', async t => {
  const [event] = figuresOf(recycle(1000, { drainMs: 100 }).slice(-1)).recycleEvents
  t.match(event, { beganAt: T0 + 1000, drainAt: T0 + 1050, drainedAt: T0 + 1150 })
})

t.test('the report is valid by the schema that is shipped', async t => {
  for (const lines of [RUN, [], RUN.slice(0, 5), recycle(0)]) {
    t.equal(isValid(JSON.parse(JSON.stringify(figuresOf(lines)))), true, JSON.stringify(isValid.errors))
  }
})

t.test('whatever a line holds, the report is valid by the schema and nothing throws', async t => {
  const fields = [...new Set(RUN.flatMap(one => Object.keys(one)))].filter(name => name !== 'event')
  const events = [...new Set(RUN.map(({ event }) => event)), 'worker.unheard-of']
  const anyLine = fc.record({
    event: fc.constantFrom(...events),
    fields: fc.dictionary(fc.constantFrom(...fields), fc.oneof(fc.anything(), fc.constant('__proto__'), fc.integer()))
  }).map(({ event, fields }) => ({ v: 1, t: T0, ...fields, event }))
  fc.assert(fc.property(fc.array(anyLine), fc.array(fc.nat(RUN.length - 1)), (strange, picked) => {
    const report = JSON.parse(JSON.stringify(figuresOf([...picked.map(i => RUN[i]), ...strange, ...RUN])))
    if (!isValid(report)) throw new Error(JSON.stringify(isValid.errors))
  }), { numRuns: 300 })
})

t.test('a journal of a hundred thousand recycles keeps the latest and the bad ones, and counts them all', async t => {
  const figures = new Figures()
  for (let i = 0; i < 100_000; i++) {
    const bad = i === 7 ? { cut: 1, cuts: [cut(9)] } : {}
    for (const one of recycle(i * 1000, { oldPid: 100 + i, pid: 101 + i, ...bad })) figures.add(one)
    if (i === 11) figures.add(drop(i * 1000 + 100, { localPort: 1 }))
  }
  const report = figures.summary()
  t.equal(report.recycles, 100_000)
  t.equal(report.moved, 1_000_000)
  t.ok(report.recycleEvents.length <= 20_000)
  t.equal(report.recycleEvents.length + report.recycleEventsOmitted, 100_000)
  t.same(report.recycleEvents.slice(0, 2).map(({ id }) => id), [8, 12], 'one that cut, and one with a drop')
  t.equal(report.recycleEvents.at(-1).id, 100_000)
})

t.test('memory over time keeps each peak, and the budget of the worker that had it', async t => {
  const figures = new Figures()
  figures.add(fleetStart())
  for (let i = 0; i < 200_000; i++) {
    if (i % 1000 === 0) figures.add(spawn(i * 100, 0, i, i))
    figures.add(sample(i * 100, 0, i - i % 1000, 1e6 + i % 1000))
  }
  const [{ slot, points }] = figures.series().memory
  t.equal(slot, 0)
  t.ok(points.length <= 2000, `${points.length} points`)
  t.equal(Math.max(...points.map(({ bytes }) => bytes)), 1e6 + 999)
  t.ok(points.every(({ t: at, budget }) => budget === Math.floor((at - T0) / 100_000) * 1000))
  t.ok(points.every((point, i) => i === 0 || point.t >= points[i - 1].t), 'in order')
})

t.test('an upgrade in the journal: two primaries write, and what is known of the old workers stays', async t => {
  const successor = fleetStart({ pid: 2, predecessor: 1, node: 'v24.0.0', options: { workers: 3, metric: 'rss' } })
  const drained = (/** @type {number} */ oldPid) => line(300, 'recycled', { slot: 0, pid: 101, oldPid, reason: 'upgrade', how: 'upgrade', ...ACCOUNT, readyMs: null, drainMs: 100, tookMs: 100, rssBefore: null, rssAfter: null })
  const begun = [fleetStart(), spawn(1, 0, 100), line(90, 'worker.drain', { slot: 0, pid: 100, reason: 'rss', connections: 1, inFlight: 0 }), { ...successor, t: T0 + 100 }, spawn(110, 0, 101)]
  const report = figuresOf([...begun, line(200, 'fleet.upgraded', { pid: 2, oldPid: 1, node: 'v24.0.0' }), drained(100)])
  t.match(report, { node: 'v24.0.0', workers: 3, recycles: 1, byReason: { upgrade: 1 } })
  t.match(report.recycleEvents, [{ kind: 'recycle', oldPid: 100, drainAt: T0 + 90 }], 'a drain that had begun before has an end')
  t.match(figuresOf([...begun, line(200, 'fleet.upgrade-failed', { pid: 2, why: 'it exited with code 1' })]), { node: 'v20.0.0', workers: 2 }, 'an upgrade that failed changes nothing')
})

t.test('a WebSocket that is closed at the drain timeout is no cut', async t => {
  const cuts = [cut(1), cut(2, { method: null, path: null, upgraded: true })]
  const { cut: count, streamsCut, recycleEvents: [event], verdict } =
    figuresOf([fleetStart(), ...recycle(1000, { connections: 10, moved: 8, cut: 2, cuts })])
  t.match({ count, streamsCut, text: verdict.text }, { count: 1, streamsCut: 1, text: /^1 cut over 1 recycle/ })
  t.match(event, { cut: 1, streamsCut: 1 })
})

t.test('WebSockets that were closed with 1012 are counted by their reason', async t => {
  const { restarted, recycleEvents } = figuresOf([
    fleetStart(), ...recycle(1000, { restarted: { tls: 2, busy: 1 } }), ...recycle(3000), ...recycle(5000, { restarted: { tls: 3, stop: 'many', 'of tomorrow, and too long': 1 } })
  ])
  t.same(restarted, { tls: 5, busy: 1, 'of tomorrow, and too': 1 })
  t.same(recycleEvents.map(({ restarted }) => restarted), [{ tls: 2, busy: 1 }, {}, { tls: 3, 'of tomorrow, and too': 1 }])
})
