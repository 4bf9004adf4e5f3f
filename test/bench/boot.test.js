'use strict'

const { quickBench } = require('../support/bench')
const { extent } = require('../support/campaign')
const t = require('tap')

const HEAVY = extent({ short: [], long: [['heavy app', 'plain']] })

t.test('bench:boot --quick times the first byte of a replacement, booted on demand and in advance', async t => {
  const { said, figures } = await quickBench(t, 'boot', ['--only', `^light app / (plain|--standby 1)${HEAVY.map(([app, how]) => `|^${app} / ${how}`).join('')}`])
  for (const [app, how] of [['light app', 'plain'], ['light app', '--standby 1'], ...HEAVY]) {
    const { firstByteMs, longestMs, readyMs, bootMs, rssMiB, failed, runs } = figures(app, how)
    t.ok(longestMs >= firstByteMs && firstByteMs > 0 && readyMs > 0, `${app}, ${how}: ready after ${readyMs} ms, first byte after ${firstByteMs} ms`)
    t.ok(bootMs > 0 && rssMiB > 30)
    t.equal(runs.length, 1)
    t.equal(failed, 0)
  }
  t.match(said, `goal met:    in all ${2 + HEAVY.length} measurements: failed 0 (goal ≤ 0)`)
})
