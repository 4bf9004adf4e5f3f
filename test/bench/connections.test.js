'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')

t.test('bench:connections --quick: every worker is replaced under 2,000 parked polls, and no client notices', async t => {
  const { said, figures } = await quickBench(t, 'connections')
  t.match(said, /^\d+ descriptors a process, \d+ ports a pair of addresses, a backlog of \d+, /)
  const recycle = figures('2000 connections', 'recycle')
  t.match(recycle, { workers: 2, recycles: 2, dropped: 0, lost: 0, kept: 0, reconnects: 0, cut: 0, unacked: 0 })
  t.ok(recycle.spritesPerSecond > 0 && recycle.p50 > 0 && recycle.pssBytes > 0 && recycle.kernelSockets >= 4000)
  t.ok(recycle.replayed >= 2000, `${recycle.replayed} polls moved`)
  const bare = figures('2000 connections', 'bare cluster')
  t.equal(bare.reconnects, 2000, 'beside it each client loses its connection')
  t.ok(bare.dropped > 0)
})
