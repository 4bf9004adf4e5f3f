'use strict'

/** The wall clock is set while the fleet runs: no interval, deadline or age may change. */

const t = require('tap')
const { startFleet } = require('../support/fleet')
const { get } = require('../support/client')
const { setWallClock, DAYS_MS } = require('../support/wall-clock')

const MINUTE_MS = 60_000

/** @param {any} t tap's @param {number} ms @param {string} what */
function isOfThisTest (t, ms, what) {
  t.ok(ms >= 0 && ms < MINUTE_MS, `${what} is ${ms} ms`)
}

t.test('set back by days: a slot in backoff is recycled in time, and ages are right', async t => {
  // Each worker has more at once
  const { supervisor, events } = await startFleet(t, 'plain.js', { workers: 1, maxFds: 16 })
  await events.until('worker.condemn', { count: 3 }) // by now its backoff is a second
  const before = events.all('recycled').length
  setWallClock(t, -DAYS_MS)
  const recycled = await events.until('recycled', { count: before + 1, timeoutMs: 10_000 })
  for (const name of ['readyMs', 'drainMs', 'tookMs']) isOfThisTest(t, recycled[name], name)
  const [condemned] = events.all('worker.condemn').slice(-1)
  isOfThisTest(t, condemned.ageMs, 'its age when it was condemned')
  for (const { ageMs } of supervisor.status().workers) isOfThisTest(t, ageMs, 'the age in the status')
  t.match(await supervisor.recycle(0), { slot: 0, cut: 0 })
})

t.test('set forward by days: no worker is older for it, or stuck', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { workers: 2, maxAge: '1h' })
  setWallClock(t, DAYS_MS)
  await events.until('worker.sample', { count: events.all('worker.sample').length + 6 })
  t.same(events.all('worker.condemn'), [])
  for (const { ageMs } of supervisor.status().workers) isOfThisTest(t, ageMs, 'the age')
  for (const { silentMs, ageMs } of events.all('worker.sample')) {
    isOfThisTest(t, silentMs, 'its silence')
    isOfThisTest(t, ageMs, 'its age in the sample')
  }
})

t.test('set back while a worker drains and the fleet stops: durations are unchanged', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 2 })
  const slow = get(port, '/slow?ms=1000')
  await events.until('worker.sample', { where: line => line.inFlight === 1 })
  const { slot } = supervisor.status().workers.find(worker => worker.inFlight === 1) ?? {}
  const recycled = supervisor.recycle(slot)
  await events.until('worker.drain')
  setWallClock(t, -DAYS_MS)
  const { drainMs, tookMs } = await recycled
  t.match(await slow, { status: 200 })
  isOfThisTest(t, drainMs, 'the drain')
  isOfThisTest(t, tookMs, 'the recycle')
  await supervisor.stop()
  for (const line of events.all('stopped')) isOfThisTest(t, line.drainMs, 'the drain at the stop')
})
