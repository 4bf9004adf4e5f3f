'use strict'

const t = require('tap')
const { extent } = require('../../support/campaign')
const { startMold, skip } = require('../../support/mold')

const COPIES = extent({ short: 25, long: 50 })
const VALUES = 200 // of each

t.test(`${COPIES * VALUES} random values of each kind across ${COPIES} copies, and none repeats`, { skip }, async t => {
  const { forkOne } = await startMold(t, 'draws.js')
  const drawn = []
  while (drawn.length < COPIES) drawn.push(...await Promise.all(Array.from({ length: 5 }, () => forkOne().said)))
  for (const kind of Object.keys(drawn[0])) {
    t.equal(new Set(drawn.flatMap(values => values[kind])).size, COPIES * VALUES, kind)
  }
  const values = drawn.flatMap(values => values['Math.random'])
  t.ok(values.every(value => value >= 0 && value < 1))
  const mean = values.reduce((sum, value) => sum + value) / values.length
  // Five standard deviations of 5,000, seven of 10,000
  t.ok(mean > 0.48 && mean < 0.52, 'Math.random is spread evenly', { mean })
})
