'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { deploy } = require('../../bench/support/synthetic-deploy')

t.test('bench:canary --quick judges deploys of equal code and of each fault', async t => {
  const { results, figures } = await quickBench(t, 'canary')
  t.same(results.groups.map((/** @type {{ name: string }} */ { name }) => name), ['a connection for each client', 'behind a proxy'])
  for (const { name, subjects } of results.groups) {
    t.equal(subjects.length, 14)
    t.match(figures(name, 'equal code'), { deploys: 4, badPercent: 0 })
    t.match(figures(name, '5xx for all requests'), { deploys: 2, badPercent: 100, by: { errors: 2 } })
  }
})

t.test('a synthetic deploy can be made again', async t => {
  const [first, again, other] = [7, 7, 8].map(seed => deploy({ seed, requests: 300, fault: { errors: 0.05 } }))
  t.same(again, first)
  t.not(other.verdict.requests.fresh, first.verdict.requests.fresh)
  t.match(deploy({ seed: 7, requests: 300 }).verdict, { verdict: 'good' })
})
