'use strict'

const Ajv = require('ajv/dist/2020')
const t = require('tap')
const schema = require('../../report-schema').reportSchema()
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const { fleetStart, line } = require('../../tools/report/written')

const isValid = new Ajv({ allowUnionTypes: true }).compile(schema)
const DUMP = { slot: 1, pid: 7, reason: 'rss', file: `/var/${'deep/'.repeat(30)}x.heapsnapshot`, bytes: 2 * 1024 ** 2, moved: 1, pauseMs: 9 }

/** @param {any[]} lines */
function report (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return /** @type {any} */ ({ ...figures.summary(), skippedLines: 0 })
}

t.test('heap snapshots are listed; a line without a file is not', async t => {
  const full = report([fleetStart(), line(5, 'heapdump', DUMP), line(6, 'heapdump', { file: 5 })])
  t.ok(isValid(full), JSON.stringify(isValid.errors))
  t.match(full, { heapdumps: [{ slot: 1, pid: 7, reason: 'rss', bytes: 2 * 1024 ** 2, pauseMs: 9 }], heapdumpsOmitted: 0 })
  t.equal(full.heapdumps.length, 1)
  const text = formatReport(full)
  t.match(text, /heap snapshots\nslot 1 \(7\), 2 MiB: ….*x\.heapsnapshot\n/)
  for (const one of text.split('\n')) t.ok(one.length <= 80, one)
})

t.test('a journal without one has an empty list, and the terminal nothing of it', async t => {
  const full = report([fleetStart()])
  t.match(full, { heapdumps: [], heapdumpsOmitted: 0 })
  t.notMatch(formatReport(full), 'heap snapshots')
})

t.test('of very many the last 1000 are listed, and the others counted', async t => {
  const full = report([fleetStart(), ...Array.from({ length: 1234 }, (_, i) => line(5 + i, 'heapdump', { ...DUMP, pid: i }))])
  t.ok(isValid(full), JSON.stringify(isValid.errors))
  t.equal(full.heapdumps.length, 1000)
  t.equal(full.heapdumps[0].pid, 234)
  t.equal(full.heapdumpsOmitted, 234)
  t.match(formatReport(full), /x\.heapsnapshot\nand 234 earlier ones\n/)
})
