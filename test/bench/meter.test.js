'use strict'

const { quickBench } = require('../support/bench')
const fs = require('node:fs')
const t = require('tap')
const { Hold } = require('../../bench/support/hold')
const { longAlone } = require('../support/campaign')

t.test('bench:meter --quick measures every reader, and its cost for the worker', { skip: longAlone('15', 'npm run test:bench') }, async t => {
  const { said, results, figures } = await quickBench(t, 'meter')
  const [fleet, worker] = results.groups
  t.match(fleet.subjects.map((/** @type {any} */ { name }) => name), [/nothing/, /awk/, /smaps, blocking/, /smaps_rollup, blocking/, /smaps_rollup, as/, /statm/, /pidusage/])
  for (const { name } of fleet.subjects) {
    const { us, holdMs, longestMs, readings } = figures(fleet.name, name)
    t.ok(us > 0 && holdMs > 0 && longestMs >= holdMs && readings >= 10, `${name}: ${us} µs`)
  }
  for (const { name } of worker.subjects) {
    const { faultP50, faultP99, faultMax, mapP50, mapMax, readings } = figures(worker.name, name)
    t.ok(faultP50 > 0 && faultP99 >= faultP50 && faultMax >= faultP99 && mapMax >= mapP50 && mapP50 > 0 &&
      readings > 0, name)
  }
  t.match(said, /goal (met: {3}|missed:) 2 workers of 50 MB: statm, as the guard: µs per worker/)
})

t.test('a fleet that does not fit into memory is left out, with a message', { skip: longAlone('3', 'npm run test:bench') }, async t => {
  const { said, results } = await quickBench(t, 'meter', ['--fleets', '1x50,1000000x50', '--workers-of', '50', '--only', 'nothing'])
  t.match(said, 'left out: 1000000 × 50 MB')
  t.same(results.groups.map((/** @type {any} */ { name }) => name), ['1 workers of 50 MB', 'a worker of 50 MB that takes fresh memory, read without a pause'])
})

t.test('the longest turn of the event loop is found', { skip: !fs.existsSync('/proc/thread-self/schedstat') && 'there is no /proc' }, async t => {
  const hold = new Hold()
  await new Promise(setImmediate)
  // Of this thread: a wait for a CPU counts as no part of a turn
  const ranMs = () => Number(fs.readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
  const before = ranMs()
  while (ranMs() - before < 60);
  await new Promise(setImmediate)
  const longestMs = hold.end()
  t.ok(longestMs >= 49, `${longestMs} ms`)
})
