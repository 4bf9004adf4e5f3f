'use strict'

const t = require('tap')
const { longAlone } = require('../support/campaign')
const { quickBench } = require('../support/bench')

t.test('the raw generator counts drops and holds a rate; its results are saved in a file of their own, and so is a run by both', async t => {
  const raw = await quickBench(t, 'gc', ['--generator', 'raw', '--load', 'rate', '--profiles', 'huge-heap'])
  t.match(raw.results, { bench: 'gc-raw', settings: { generator: 'raw' } })
  const both = await quickBench(t, 'gc', ['--generator', 'autocannon,raw', '--profiles', 'default'])
  t.match(both.results, { bench: 'gc-generators', groups: [{ beside: [], subjects: [{ name: 'default, by autocannon' }, { name: 'default, by raw' }] }] })
  const atRate = raw.figures('garbage, 1 worker, 4 connections, a fixed rate', 'huge-heap')
  t.equal(atRate.rate, 200)
  for (const { generator, requests, dropped, refused, errors } of [atRate, both.figures('garbage, 1 worker, 4 connections, saturation', 'default, by raw')]) {
    t.same({ generator, requests, dropped, refused, errors }, { generator: 'raw', requests: 300, dropped: 0, refused: 0, errors: {} })
  }
  await t.rejects(quickBench(t, 'gc', ['--load', 'rate']), { code: 2, stderr: 'bench:gc: --load rate takes --generator raw; autocannon does not time a request from when it was due\n' })
})

t.test('at a fixed rate each round has a rate of its own, the same for all profiles', { skip: longAlone('10', 'npm run test:bench') }, async t => {
  const { results } = await quickBench(t, 'gc', ['--generator', 'raw', '--load', 'rate', '--rate', '0', '--rounds', '2', '--requests', '50'])
  const [plain, huge] = results.groups[0].subjects.map((/** @type {any} */ subject) =>
    subject.rounds.map((/** @type {any} */ round) => round.rate))
  t.equal(plain.length, 2)
  t.same(huge, plain)
  t.ok(plain.every((/** @type {number} */ rate) => rate > 0) && new Set(plain).size > 1, `found anew: ${plain}`)
})

t.test('a worker that is recycled instead of collecting keeps its counts', { skip: longAlone('6', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'gc', ['--generator', 'raw', '--apps', 'leak', '--profiles', 'default', '--load', 'rate', '--rate', '3000', '--requests', '12000'])
  const { recycles, dropped, cut, markSweeps, longestMarkSweepMs, markSweepMs, reasons, cpuS } = figures('leak, 1 worker, 4 connections, a fixed rate', 'default')
  t.ok(recycles >= 1, `${recycles} recycles`)
  t.equal(dropped, 0)
  t.equal(cut, 0)
  t.ok(markSweeps >= 1 && markSweepMs >= longestMarkSweepMs, `${markSweeps} mark-sweeps`)
  t.equal(Object.values(reasons).reduce((sum, count) => sum + count, 0), markSweeps, JSON.stringify(reasons))
  t.ok(cpuS > 0)
})
