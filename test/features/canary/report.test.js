'use strict'

const Ajv = require('ajv/dist/2020')
const t = require('tap')
const schema = require('../../report-schema').reportSchema()
const { Figures } = require('../../../lib/tools/report/figures')
const { formatReport } = require('../../../lib/tools/report/table')
const { fleetStart, line } = require('../../tools/report/written')

const isValid = new Ajv({ allowUnionTypes: true }).compile(schema)
const ERRORS = { name: 'errors', unit: 'share', old: 0.0002, fresh: 0.021, isWorse: true }
const BAD = { generation: 3, before: 2, isGood: false, verdict: 'bad', why: 'responses with 5xx', bakeMs: 60_000, figures: [ERRORS, { name: 'of a later version', unit: 'share', old: 1, fresh: 1 }, { ...ERRORS, name: 'p99', unit: 'ms', old: null, isWorse: false }] }

/** @param {any[]} lines */
function report (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return /** @type {any} */ ({ ...figures.summary(), skippedLines: 0 })
}

t.test('reloads that compared code are listed, with the figures that are known', async t => {
  const full = report([fleetStart(), line(5, 'canary.verdict', BAD), line(6, 'canary.verdict', { ...BAD, isGood: true, verdict: 'undecided', figures: [] }), line(7, 'canary.verdict', { figures: 'none' })])
  t.ok(isValid(full), JSON.stringify(isValid.errors))
  t.match(full, {
    canariesOmitted: 0,
    canaries: [
      { title: 'Generation 3', isBad: true, text: 'the new code is worse: responses with 5xx', rows: [{ label: 'responses with 5xx', old: '0.02 %', fresh: '2.10 %', isWorse: true }, { old: '–', fresh: '0.021 ms', isWorse: false }] },
      { isBad: false, text: 'whether the new code is as good is not known after 1m: responses with 5xx; the reload goes on, as --undecided go has it', rows: [] }
    ]
  })
  t.equal(full.canaries.length, 2)
  const text = formatReport(full)
  t.match(text, /reloads whose code was compared first\ngeneration 3: the new code is worse: responses with 5xx\n/)
  for (const one of text.split('\n')) t.ok(one.length <= 80, one)
})

t.test('a journal without one has an empty list, and the terminal nothing of it', async t => {
  const full = report([fleetStart()])
  t.match(full, { canaries: [], canariesOmitted: 0 })
  t.notMatch(formatReport(full), 'compared first')
})
