'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')

t.test('bench:pauses --quick loads both servers of each pair and drops nothing', { skip: process.platform !== 'linux' && 'there is no /proc' }, async t => {
  const { said, results, figures } = await quickBench(t, 'pauses')
  for (const { name, subjects } of results.groups) {
    t.same(subjects.map((/** @type {any} */ subject) => subject.name), ['without', 'with'])
    for (const subject of ['without', 'with']) {
      const { cpuUs, rps, dropped } = figures(name, subject)
      t.ok(cpuUs > 0 && rps > 0, `${name}, ${subject}: ${cpuUs} µs`)
      t.equal(dropped, 0)
    }
    t.match(said, new RegExp(`goal (met: {3}|missed:) ${name}: with: CPU µs/request`))
  }
})
