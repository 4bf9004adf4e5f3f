'use strict'

const Ajv = require('ajv/dist/2020')
const t = require('tap')
const schema = require('../../report-schema').reportSchema()
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const { leaking } = require('../../support/leaking')
const { fleetStart, line } = require('./written')

/** @param {any[]} lines */
function report (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return /** @type {any} */ ({ ...figures.summary(), skippedLines: 0 })
}

const isValid = new Ajv({ allowUnionTypes: true }).compile(schema)
const RUN = leaking({ seed: 4, kept: { 3: 50e3, 8: 200e3 } }).map(({ upMs, pid, ...point }) => line(upMs, 'worker.memory', { slot: pid - 1, pid, upMs, ...point }))

t.test('the terminal shows the routes that leak, the one that keeps most first', async t => {
  const full = report([fleetStart(), ...RUN])
  t.ok(isValid(full), JSON.stringify(isValid.errors))
  t.match(full.memoryByRoute, { lack: null, routes: [{ route: 'GET /i', leaks: true }, { route: 'GET /d', leaks: true }, { leaks: false }] })
  const text = formatReport(full)
  t.match(text, /leaking route +per request +99\.9 % interval +in all +requests\nGET \/i +19\d KiB +1\d\d(\.\d)? KiB to 2\d\d(\.\d)? KiB +\d+ MiB +\d+\nGET \/d +\d\d(\.\d)? KiB .*\nnot enough evidence that the other 8 routes leak\n/)
  for (const one of text.split('\n')) t.ok(one.length <= 80, one)
})

t.test('a route of any length and content fits, and is shown as plain text', async t => {
  const lines = RUN.map(one => ({ ...one, requests: Object.fromEntries(Object.entries(one.requests).map(([name, count]) => [name.replace('/i', `/\x1b[2J${'long/'.repeat(100)}`), count])) }))
  const text = formatReport(report(lines))
  t.notMatch(text, '\x1b')
  for (const one of text.split('\n')) t.ok(one.length <= 80, one)
})

t.test('where no route leaks it says that the evidence is not enough, and why', async t => {
  t.match(formatReport(report([fleetStart(), ...RUN.slice(0, 4)])), 'not enough evidence that a route leaks: too few collections so far')
})

t.test('a fleet without the option has no such figures', async t => {
  const without = report([fleetStart()])
  t.equal(without.memoryByRoute, null)
  t.notMatch(formatReport(without), 'leak')
})

t.test('after a reload or a new start the figures begin anew', async t => {
  for (const event of ['fleet.reload', 'fleet.start']) {
    t.match(report([...RUN, line(200_000, event, {})]).memoryByRoute, { points: 0, lack: 'few-samples' })
  }
})

t.test('lines with bad values are left out', async t => {
  const odd = [{ pid: 'x' }, { upMs: null }, { liveBytes: {} }, { markSweeps: 'x' }, { requests: null }, { requests: 5 }]
  const bad = odd.map(fields => ({ ...RUN[0], ...fields }))
  t.equal(report(bad).memoryByRoute, null)
  const strange = { ...RUN[0], requests: { ...RUN[0].requests, __proto__x: -5, y: 'many' } }
  t.match(report([strange]).memoryByRoute, { points: 1 })
})
