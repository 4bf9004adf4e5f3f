'use strict'

const Ajv = require('ajv/dist/2020')
const t = require('tap')
const schema = require('../../report-schema').reportSchema()
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const { T0, fleetStart, line } = require('../../tools/report/written')

const isValid = new Ajv({ allowUnionTypes: true }).compile(schema)
const load = (/** @type {number} */ second, /** @type {number} */ workers, /** @type {number} */ busy) =>
  line(1000 * second, 'fleet.load', { atMs: 1000 * second, workers, serving: workers, busy, requestsPerSecond: 100 * busy, bootMs: 100, fitting: null, isPinned: false })
const START = fleetStart({ options: { workers: 1, autoscale: { min: 1, max: 4, asked: 4 }, metric: 'rss' } })

/** @param {any[]} lines */
function read (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return { report: /** @type {any} */ ({ ...figures.summary(), skippedLines: 0 }), series: figures.series() }
}

t.test('how many workers there were, why that changed, and how long they had too much to do', async t => {
  const lines = [START, load(1, 1, 0.3), load(2, 1, 1), load(3, 1, 1), line(3000, 'fleet.scale', { from: 1, to: 2, reason: 'busy' }), load(4, 2, 1.2), load(60, 2, 1.9), load(61, 2, 1.9)]
  const { report, series } = read(lines)
  t.ok(isValid(report), JSON.stringify(isValid.errors))
  t.same(report.scaling, { min: 1, max: 4, fewest: 1, most: 2, mean: 1.5, changes: { busy: 1 }, overTargetMs: 3000 }, 'a gap of a minute is not counted')
  t.same(series.scaling.slice(0, 2), [{
    t: T0 + 1000, wanted: 1, ready: 1, busy: 0.3
  }, { t: T0 + 2000, wanted: 1, ready: 1, busy: 1 }])
  const text = formatReport(report)
  t.match(text, '1 to 2 workers of 1..4, 1.5 on average; changes: 1 busy;')
  for (const one of text.split('\n')) t.ok(one.length <= 80, one)
})

t.test('a fleet of a fixed size has none of this', async t => {
  const { report, series } = read([fleetStart(), line(5000, 'fleet.scale', { from: 2, to: 3 })])
  t.ok(isValid(report), JSON.stringify(isValid.errors))
  t.equal(report.scaling, null)
  t.same(series.scaling, [])
})

t.test('a journal of odd values is read all the same', async t => {
  const odd = [START, { ...load(1, 1, 1), workers: 'many', busy: null }, ...Array.from({ length: 50 }, (_, i) => line(2000, 'fleet.scale', { reason: `${i}` })), line(3000, 'fleet.load', { t: null })]
  const { report } = read(odd)
  t.ok(isValid(report), JSON.stringify(isValid.errors))
  t.equal(Object.keys(report.scaling.changes).length, 21)
})
