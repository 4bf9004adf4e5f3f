'use strict'

const t = require('tap')
const { Pace } = require('../../../lib/tools/drill/swarm')

t.test('requests are due at even intervals from the start', async t => {
  const pace = new Pace(100, 1000)
  t.equal(pace.take(999), null)
  t.equal(pace.take(1000), 1000)
  t.equal(pace.take(1009), null)
  t.equal(pace.take(1010), 1010)
})

t.test('a request that no client could send when it was due stays due: the rate is made up for', async t => {
  const pace = new Pace(100, 0)
  const due = []
  for (let at = pace.take(45); at !== null; at = pace.take(45)) due.push(at)
  t.same(due, [0, 10, 20, 30, 40])
  t.equal(pace.nextAt, 50)
})
