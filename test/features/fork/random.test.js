'use strict'

const t = require('tap')
const { startMold, skip } = require('../../support/mold')

const COPIES = 50
const VALUES = 200 // of each

t.test('10,000 random values of each kind across 50 copies, and none repeats', { skip }, async t => {
  const { forkOne } = await startMold(t, 'draws.js')
  const drawn = []
  while (drawn.length < COPIES) drawn.push(...await Promise.all(Array.from({ length: 10 }, () => forkOne().said)))
  for (const kind of Object.keys(drawn[0])) {
    t.equal(new Set(drawn.flatMap(values => values[kind])).size, COPIES * VALUES, kind)
  }
  const values = drawn.flatMap(values => values['Math.random'])
  t.ok(values.every(value => value >= 0 && value < 1))
  const mean = values.reduce((sum, value) => sum + value) / values.length
  t.ok(mean > 0.48 && mean < 0.52, 'Math.random is spread evenly', { mean }) // seven standard deviations
})
