'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:overhead --quick measures its subjects by both kinds of connection and drops nothing', { skip: longAlone('20', 'npm run test:bench') }, async t => {
  const { said, results, figures } = await quickBench(t, 'overhead', ['--only', '^keep-alive / recycle, |^a connection per request / recycle, idle|requests/s / recycle, idle|1 worker each / recycle, idle'])
  const beside = ['cluster, round robin', 'cluster, shared socket']
  for (const [group, subjects] of Object.entries({ 'keep-alive': [...beside, 'recycle, idle', 'recycle, 1 a second'], 'a connection per request': [...beside, 'recycle, idle'] })) {
    t.match(said, `${group}, beside cluster, `)
    for (const subject of subjects) {
      const { requests, dropped, errors, sockets, rps, seconds, p50, p99, max, cpuUs, primaryMiB } = figures(
        group, subject
      )
      t.equal(dropped, 0, `${group} / ${subject}: ${JSON.stringify(errors)}`)
      t.ok(requests > 0 && Math.abs(rps * seconds - requests) < 0.01 * requests + 1, 'requests, time and rate agree')
      t.equal(sockets, group === 'keep-alive' ? 10 : requests, 'as many sockets as clients, or as requests')
      t.ok(p50 > 0 && p99 >= p50 && max >= p99)
      if (process.platform === 'linux') t.ok(cpuUs > 0 && primaryMiB > 20, `${cpuUs} µs, ${primaryMiB} MiB`)
    }
  }
  t.match(said, /goal (met: {3}|missed:) keep-alive: recycle, idle: requests\/s/)
  const { rps } = figures('keep-alive, 500 requests/s', 'recycle, idle')
  t.ok(rps < 550, `${rps} a second`)
  const together = 'keep-alive, all at the same time, 1 worker each'
  for (const subject of [...beside, 'recycle, idle']) {
    const { requests, dropped, cpuUs } = figures(together, subject)
    t.equal(dropped, 0)
    t.ok(Math.abs(requests - 250) <= 1, `${subject}: a quarter of 500 a second, for as long as all four would have had by turns: ${requests}`)
    if (process.platform === 'linux') t.ok(cpuUs > 0, `${cpuUs} µs`)
  }
  t.match(said, new RegExp(`goal (met: {3}|missed:) ${together}: recycle, idle: CPU`))
  t.same(results.groups.map((/** @type {any} */ { name, by }) => [name, by]), [
    ['keep-alive', 'rps'], ['a connection per request', 'rps'], ['keep-alive, 500 requests/s', 'p99'], ['a connection per request, 200 requests/s', 'p99'], [together, 'cpuUs']
  ])
})
