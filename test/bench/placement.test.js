'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { simulate } = require('../../bench/support/synthetic-fleet')
const { longAlone } = require('../support/campaign')

t.test('bench:placement-model --quick simulates each load by each way to place connections', async t => {
  const { results, figures, said } = await quickBench(t, 'placement-model')
  t.equal(results.groups.length, 10)
  for (const { name, subjects } of results.groups) {
    t.equal(subjects.length, 5)
    for (const subject of ['one queue', 'round robin', 'least connections']) t.match(figures(name, subject), { moves: 0, p99: Number, wakesPerSecond: Number }, `${name}, ${subject}`)
  }
  t.match(said, 'goal met:    4 busy of one worker, among 10,000 idle: by load')
})

t.test('a simulation can be made again, and by load the busy connections of one worker do not wait for each other', async t => {
  const run =
    (/** @type {number} */ seed, /** @type {import('../../bench/support/synthetic-fleet').Policy} */ policy) =>
      simulate({
        seed, policy, kind: { connections: 100, share: 0.6, costMs: 2, busy: 4 }, workers: 5, cpus: 2, seconds: 10
      })
  t.same(run(7, 'load'), run(7, 'load'))
  t.not(run(8, 'load').p99, run(7, 'load').p99)
  t.ok(run(7, 'load').p99 < 0.1 * run(7, 'round robin').p99)
})

t.test('short requests by load wake workers far more rarely, and are not later', async t => {
  const run = (/** @type {import('../../bench/support/synthetic-fleet').Policy} */ policy) =>
    simulate({ seed: 7, policy, kind: { connections: 50, share: 0.5, costMs: 0.05 }, workers: 5, cpus: 2, seconds: 20 })
  const [byLoad, byCount] = [run('load'), run('count')]
  t.ok(byLoad.wakesPerSecond < 0.75 * byCount.wakesPerSecond, `${byLoad.wakesPerSecond} ${byCount.wakesPerSecond}`)
  t.ok(byLoad.p99 <= 1.1 * byCount.p99, `${byLoad.p99} ${byCount.p99}`)
})

t.test('bench:placement --quick measures its subjects and drops nothing', { skip: longAlone('20', 'npm run test:bench') }, async t => {
  const { results } = await quickBench(t, 'placement', ['--only', 'recycle$'])
  t.same(results.groups.map((/** @type {{ name: string }} */ { name }) => name), ['the busy connections of one worker', 'half of them of one worker', 'hello world, keep-alive', 'hello world, a connection per request'])
  for (const { name, subjects } of results.groups) {
    for (const { name: subject, rounds: [{ requests, dropped, p50, p99 }] } of subjects) {
      t.equal(dropped, 0, `${name} / ${subject}`)
      t.ok(requests > 0 && p99 >= p50 && p50 > 0)
    }
  }
})
