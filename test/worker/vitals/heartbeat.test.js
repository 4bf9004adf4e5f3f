'use strict'

const { mock } = require('node:test')
const timers = require('node:timers')
const t = require('tap')

const FILES = ['native/every', 'worker/vitals/heartbeat'].map(name => require.resolve(`../../../lib/${name}`))

/**
 * How long the first beat of the worker of that slot is waited for, at 100.1 s of the machine's clock.
 * @param {string} slot
 */
function firstWait (slot) {
  /** @type {number[]} */
  const waits = []
  mock.method(timers, 'setTimeout', (/** @type {() => void} */ _, /** @type {number} */ ms) => ({ unref: () => waits.push(ms) }))
  mock.method(timers, 'setImmediate', () => {})
  mock.method(performance, 'now', () => 100) // of a process that has just begun
  mock.method(process.hrtime, 'bigint', () => 100_100_000_000n)
  for (const file of FILES) delete require.cache[file]
  process.env.RECYCLE_SLOT = slot
  try {
    require(FILES[1]).startHeartbeat({ beatMs: 500 }, { tracker: { on () {} } })
    return waits[0]
  } finally {
    mock.restoreAll()
    delete process.env.RECYCLE_SLOT
    for (const file of FILES) delete require.cache[file]
  }
}

t.test('eight workers beat at the same time, just before the primary wakes, and the next eight later', async t => {
  t.same(['0', '7', 'standby'].map(firstWait), [396, 396, 396])
  t.same(['8', '15'].map(firstWait), [458.5, 458.5])
  t.equal(firstWait('64'), 396)
})

t.test('without a primary an idle worker looks at its loop, its inbox and its queues with each beat all the same', async t => {
  const { startHeartbeat } = require(FILES[1])
  /** @type {string[]} */
  const calls = []
  const note = (/** @type {string} */ name) => () => {
    calls.push(name)
    return false
  }
  const beat = startHeartbeat({ beatMs: 10_000 }, {
    tracker: { on () {}, connections: new Set(), requests: {} },
    loads: {},
    features: [],
    channel: { check: note('check'), send () {} },
    inbox: { sweep: note('sweep') },
    admission: { acceptors: new Set([{ listening: { rearm: note('rearm') } }]) },
    pauses: { beat: note('beat'), take: () => ({}) }
  })
  beat()
  t.same(calls, ['sweep', 'rearm', 'beat', 'check'])
})
