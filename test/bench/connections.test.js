'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')

t.test('bench:connections --quick: every worker is replaced under 600 parked polls, and no client notices', async t => {
  const { said, figures } = await quickBench(t, 'connections', ['--sizes', '600', '--rate', '50', '--only', 'recycle$'])
  t.match(said, /^\d+ descriptors a process, \d+ ports a pair of addresses, a backlog of \d+, /)
  const { spritesPerSecond, p50, pssBytes, kernelSockets, replayed, ...recycle } = figures('600 connections', 'recycle')
  t.match(recycle, { workers: 2, recycles: 2, dropped: 0, lost: 0, kept: 0, reconnects: 0, cut: 0, unacked: 0 })
  t.ok(spritesPerSecond > 0 && p50 > 0 && pssBytes > 0 && kernelSockets >= 1200, `${kernelSockets} sockets`)
  t.ok(recycle.killed > 150 && recycle.killReplayed > 0.9 * recycle.killed, `${recycle.killReplayed} of ${recycle.killed} polls of a killed worker went on in the other one`)
  t.match(recycle, { killDropped: 0, killReconnects: 0 })
  t.ok(replayed >= 540, `${replayed} polls moved; a client between two polls moves idle`)
})
