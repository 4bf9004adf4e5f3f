'use strict'

const { quickBench, BENCH } = require('../support/bench')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: passed } = require('node:timers/promises')
const t = require('tap')
const { Roster } = require('../../bench/support/roster')
const { longAlone } = require('../support/campaign')

t.test('bench:drops --quick counts the drops of each peer; recycle drops nothing and no client reconnects', { skip: longAlone('10', 'npm run test:bench') }, async t => {
  const { said, figures } = await quickBench(t, 'drops', ['--rate', '250', '--connections', '30', '--budget', '70'])
  const { requests, recycles, dropped, errors, reopened, perMillion, p50, p99, max, peakWorkerMiB, peakFleetMiB } = figures('keep-alive', 'recycle')
  t.ok(requests > 0 && recycles >= 1, `${requests} requests, ${recycles} recycles`)
  t.same({ dropped, errors, reopened, perMillion }, { dropped: 0, errors: {}, reopened: 0, perMillion: 0 })
  t.ok(max >= p99 && p99 >= p50 && p50 > 0)
  t.ok(peakFleetMiB > peakWorkerMiB && peakWorkerMiB > 40)
  t.match(said, 'goal met:    keep-alive: recycle: dropped 0 (goal ≤ 0)')
  const other = figures('keep-alive', 'blog-post')
  t.ok(other.void || (other.recycles >= 1 && other.dropped === Object.values(other.errors)
    .reduce((sum, count) => sum + count, 0)), JSON.stringify(other))
})

t.test('a run in which no worker was recycled is void', { skip: longAlone('5', 'npm run test:bench') }, async t => {
  const { said, figures } = await quickBench(t, 'drops', ['--peers', 'experiment', '--seconds', '1', '--patience', '0', '--budget', '1000', '--rate', '100'])
  const { void: why, requests, dropped, perRecycle, p99 } = figures('keep-alive', 'experiment')
  t.equal(why, 'void: no worker was recycled')
  t.ok(requests > 0 && dropped >= 0, 'its drops count in the sums')
  t.same({ perRecycle, p99 }, { perRecycle: undefined, p99: undefined })
  t.match(said, 'keep-alive: experiment: 1 (void: no worker was recycled)')
})

t.test('workers are observed from outside: started, ended, and replaced', async t => {
  const roster = new Roster()
  const worker = async () => {
    const seen = roster.workers.length
    const child = spawn(process.execPath, [path.join(BENCH, 'apps', 'leaky.js')], { env: { ...process.env, PORT: '0', ROSTER: roster.folder } })
    t.teardown(() => child.kill('SIGKILL'))
    while (roster.workers.length === seen) await passed(10)
    return child
  }
  const first = await worker()
  const second = await worker()
  const from = Date.now()
  const rest = [second, await worker()].map(child => once(child, 'exit'))
  first.kill('SIGKILL')
  while (roster.replacedSince(from) === 0) await passed(10)
  const to = Date.now()
  const third = roster.workers[2]
  t.equal(roster.alive.length, 2)
  t.equal(roster.replacedSince(from), 1)
  t.same(roster.changes(from, to), [[third.bootAt, roster.workers[0].endAt]])
  t.ok(third.bootAt <= third.readyAt && roster.peakFleetBytes > roster.peakBytes && roster.peakBytes > 40 * 1024 ** 2)
  roster.close()
  t.same(await Promise.all(rest), [[null, 'SIGKILL'], [null, 'SIGKILL']], 'the remaining workers are ended')
})
