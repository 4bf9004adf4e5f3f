'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')

t.test('bench:routes --quick measures each kind of path with and without counting', async t => {
  const { said, results, figures } = await quickBench(t, 'routes')
  t.equal(results.groups.length, 4)
  for (const { name } of results.groups) {
    for (const subject of ['without', 'with']) t.ok(figures(name, subject).us > 0, `${name}, ${subject}`)
  }
  t.match(said, /goal (met: {3}|missed:) a path of words: with: CPU µs\/request/)
})
