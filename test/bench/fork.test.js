'use strict'

const { quickBench } = require('../support/bench')
const { skip } = require('../support/mold')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:fork --quick compares forked workers with spawned ones', { skip: longAlone('6', 'npm run test:bench') || skip }, async t => {
  const { figures } = await quickBench(t, 'fork', ['--only', '^first byte, hello world|^throughput, hello world / (spawn|mold, 1 a second)$'])
  for (const subject of ['spawn', 'mold']) {
    const { firstByteMs, longestMs } = figures('first byte, hello world', subject)
    t.ok(firstByteMs > 0 && longestMs >= firstByteMs, `${subject}: first byte after ${firstByteMs} ms`)
  }
  for (const subject of ['spawn', 'mold, 1 a second']) {
    const { rps, cpuUs, dropped } = figures('throughput, hello world', subject)
    t.ok(rps > 0 && cpuUs > 0)
    t.equal(dropped, 0)
  }
})
