'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')

t.test('bench:boot --quick times the first byte of a replacement, booted on demand and in advance', async t => {
  const { said, figures } = await quickBench(t, 'boot', ['--only', '^light app / (plain|--standby 1)|^heavy app / plain'])
  for (const [app, how] of [['light app', 'plain'], ['light app', '--standby 1'], ['heavy app', 'plain']]) {
    const { firstByteMs, longestMs, readyMs, bootMs, rssMiB, failed, runs } = figures(app, how)
    t.ok(longestMs >= firstByteMs && firstByteMs > 0 && readyMs > 0, `${app}, ${how}: ready after ${readyMs} ms, first byte after ${firstByteMs} ms`)
    t.ok(bootMs > 0 && rssMiB > 30)
    t.equal(runs.length, 1)
    t.equal(failed, 0)
  }
  t.match(said, 'goal met:    in all 3 measurements: failed 0 (goal ≤ 0)')
})
