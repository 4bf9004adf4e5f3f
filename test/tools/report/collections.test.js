'use strict'

const Ajv = require('ajv/dist/2020')
const t = require('tap')
const schema = require('../../report-schema').reportSchema()
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const { fleetStart, spawn, sample, line } = require('./written')

/** @param {any[]} lines */
function report (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return /** @type {any} */ ({ ...figures.summary(), skippedLines: 0 })
}

/**
 * A sample with the pauses of its worker.
 *
 * @param {number} ms @param {number} pid @param {number[]} scavenges @param {number[]} markSweeps
 * @param {number} [loopLagMs]
 */
function paused (ms, pid, scavenges, markSweeps, loopLagMs = 0) {
  const kind = (/** @type {number[]} */ [count, totalMs, longestMs]) => ({ count, totalMs, longestMs })
  return { ...sample(ms, 0, pid, 50e6), gc: { scavenges: kind(scavenges), markSweeps: kind(markSweeps) }, loopLagMs }
}

const RUN = [
  fleetStart(), spawn(0, 0, 100), spawn(0, 1, 200),
  paused(1000, 100, [10, 20, 4], [0, 0, 0], 3), paused(1000, 200, [5, 5, 2], [1, 30, 30], 31),
  paused(2000, 100, [30, 50, 3], [0, 0, 0]), paused(2000, 200, [6, 6, 1], [2, 50, 20]),
  line(2100, 'worker.retire', { slot: 0, pid: 100, code: 0, signal: null, inFlight: 0 }),
  spawn(3000, 0, 100), // the kernel has reused its pid
  paused(4000, 100, [1, 4, 4], [0, 0, 0], 7)
]

t.test('pauses add up over the workers; the longest is the longest of all', async t => {
  const { gc } = report(RUN)
  t.same(gc, {
    scavenges: { count: 30 + 6 + 1, totalMs: 60, longestMs: 4, share: 60 / 5000 },
    markSweeps: { count: 2, totalMs: 50, longestMs: 30, share: 50 / 5000 },
    workersMs: 5000,
    longestLoopLagMs: 31
  })
})

t.test('a worker older than the journal counts from its first sample on', async t => {
  const { gc } = report([
    paused(5000, 7, [1000, 9000, 5], [10, 800, 0]), paused(6000, 7, [1010, 9020, 6], [10, 800, 0])
  ])
  t.match(gc, {
    scavenges: { count: 10, totalMs: 20, share: 0.02 }, markSweeps: { count: 0, totalMs: 0, share: 0 }, workersMs: 1000
  })
})

t.test('the share of time is by the ages of workers, so that setting the clock does not change it', async t => {
  const days = 3 * 24 * 3600 * 1000
  const at = (/** @type {number} */ ageMs, /** @type {number} */ totalMs, stepMs = 0) => ({
    ...paused(5000 + ageMs + stepMs, 7, [ageMs / 100, totalMs, 5], [0, 0, 0]), ageMs
  })
  for (const stepMs of [-days, 0, days]) {
    t.match(report([at(1000, 10), at(2000, 30, stepMs), at(3000, 50, stepMs)]).gc, {
      scavenges: { totalMs: 40, share: 0.02 }, workersMs: 2000
    })
  }
})

t.test('the terminal shows count, total, longest and share of time', async t => {
  const text = formatReport(report(RUN))
  t.match(text, /GC pauses +total +longest +share of time +count\nscavenge +60ms +4ms +1\.20% +37\nmark-sweep +50ms +30ms +1\.00% +2\n/)
  t.match(text, 'longest delay of an event loop: 31ms')
})

t.test('a journal without these fields is read too', async t => {
  const old = report([fleetStart(), spawn(0, 0, 100), sample(100, 0, 100, 60e6)])
  t.equal(old.gc, null)
  t.notMatch(formatReport(old), 'GC pauses')
  t.ok(new Ajv({ allowUnionTypes: true }).validate(schema, old))
})

t.test('a bad value counts as no pause', async t => {
  const odd = [null, 5, 'x', {}, { scavenges: null }, { scavenges: { count: 'x', totalMs: -1, longestMs: {} }, markSweeps: [] }]
  const { gc } = report([spawn(0, 0, 1), ...odd.map((gc, i) => ({ ...sample(i, 0, 1, 1e6), gc, loopLagMs: 'x' })), { ...sample(0, 0, 2, 1e6), t: 'x', gc: {} }])
  t.match(gc, { scavenges: { count: 0, totalMs: 0, longestMs: 0 }, markSweeps: { count: 0 }, longestLoopLagMs: 0 })
})
