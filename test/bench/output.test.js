'use strict'

const t = require('tap')
const { longAlone } = require('../support/campaign')
const { quickBench } = require('../support/bench')

t.test('bench:output --quick measures each road of the output, and finds every line', { skip: longAlone('8', 'npm run test:bench') || (process.platform !== 'linux' && 'there is no /proc') }, async t => {
  const { results, figures } = await quickBench(t, 'output', ['--only', '8,192 bytes, as fast'])
  const [{ name, subjects }] = results.groups
  t.same(subjects.map((/** @type {any} */ subject) => subject.name), ['inherit', 'lines', 'lines, --prefix'])
  for (const subject of ['lines', 'lines, --prefix']) t.match(figures(name, subject), { torn: 0, missing: 0, dropped: 0 })
})
