'use strict'

const t = require('tap')
const { resolveOptions } = require('../../lib/tables/resolved-options')

/** @param {Record<string, string>} given */
const timesOf = given => resolveOptions(given, { parallelism: 2 }).stopTimes

t.test('without --stop-timeout a stop has the timeouts of a recycle, the delay before it, and 10 s', async t => {
  t.same(timesOf({}), { beforeMs: 0, drainMs: 30_000, killMs: 5000, totalMs: 45_000 })
  t.same(timesOf({ stopDelay: '8s', drainTimeout: '4s', killTimeout: '1s' }), { beforeMs: 8000, drainMs: 4000, killMs: 1000, totalMs: 23_000 })
})

t.test('with --stop-timeout they follow from it, and the other timeouts stay as they are', async t => {
  const drains = { '3s': [900, 600], '5s': [2500, 1000], '10s': [6000, 2000], '30s': [20_000, 5000], '2m': [110_000, 5000] }
  for (const [stopTimeout, [drainMs, killMs]] of Object.entries(drains)) {
    t.match(timesOf({ stopTimeout }), { drainMs, killMs })
  }
  t.match(timesOf({ stopTimeout: '30s', stopDelay: '5s' }), { beforeMs: 5000, drainMs: 15_000, killMs: 5000, totalMs: 30_000 })
  t.match(resolveOptions({ stopTimeout: '10s' }, { parallelism: 2 }), { drainTimeoutMs: 30_000, killTimeoutMs: 5000 })
})

t.test('timeouts that are given hold, where they fit', async t => {
  t.match(timesOf({ stopTimeout: '10s', drainTimeout: '4s' }), { drainMs: 4000, killMs: 2000 })
  t.match(timesOf({ stopTimeout: '10s', killTimeout: '500ms' }), { drainMs: 7500, killMs: 500 })
  t.match(timesOf({ stopTimeout: '60s', drainTimeout: '30s', killTimeout: '20s' }), { drainMs: 30_000, killMs: 20_000 })
})

for (const [given, sentence] of /** @type {[Record<string, string>, string][]} */ ([
  [{ drainTimeout: '30s' }, 'drainTimeout was given "30s"; it takes a time of at most 6s with stopTimeout 10s'],
  [{ drainTimeout: '6s', killTimeout: '4s' }, 'drainTimeout was given "6s"; it takes a time of at most 4s with stopTimeout 10s'],
  [{ killTimeout: '10s' }, 'killTimeout was given "10s"; it takes a time of at most 7.5s with stopTimeout 10s'],
  [{ stopDelay: '8s' }, 'stopTimeout was given "10s"; it takes a time in which a worker can drain after the 8s before it is told, such as 18s']
])) {
  t.test(`with 10 s, ${JSON.stringify(given)} is refused in one sentence`, async t => {
    t.throws(() => timesOf({ stopTimeout: '10s', ...given }), { code: 'RECYCLE_BAD_OPTION', message: sentence })
  })
}
