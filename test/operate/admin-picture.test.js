'use strict'

const t = require('tap')
const { Growth } = require('../../lib/operate/admin/growth')
const { Picture } = require('../../lib/operate/admin/picture')
const { T0, fleetStart, spawn, sample, recycle, line } = require('../tools/report/written')

const WINDOW_MS = 60_000
const STATUS = status([])

/** @param {any[]} workers @param {Record<string, any>} [other] */
function status (workers, other) {
  return { workers, totals: { workers: workers.length, ready: workers.filter(({ state }) => state === 'ready').length, moves: { leaving: 2, load: 3 } }, memoryByRoute: null, ...other }
}

/** @param {any[]} lines */
function pictureOf (lines) {
  const picture = new Picture(WINDOW_MS)
  for (const one of lines) picture.hear(one)
  return picture
}

t.test('growth counts each worker from its own start, and never decreases', async t => {
  const growth = new Growth()
  t.equal(growth.of(1, 'requests', 5), 5)
  t.equal(growth.of(1, 'requests', 8), 3)
  t.equal(growth.of(1, 'requests', 6), 0, 'an older sample')
  t.equal(growth.of(1, 'requests', 9), 1)
  t.equal(growth.of(1, 'pauses', 2), 2)
  t.equal(growth.of(2, 'requests', 4), 4)
  t.equal(growth.of(2, 'requests', undefined), 0)
  growth.forget(1)
  t.equal(growth.of(1, 'requests', 3), 3, 'another worker with the same pid')
})

t.test('every part has the latest estimate of which route leaks', async t => {
  const memoryByRoute = { text: 'GET / keeps', routes: [] }
  const picture = pictureOf([fleetStart()])
  t.equal(picture.news(T0, status([], { memoryByRoute })).memoryByRoute, memoryByRoute)
  t.equal(picture.whole(T0, STATUS).memoryByRoute, null)
})

t.test('news is given out once; a later page gets everything', async t => {
  const picture = pictureOf([fleetStart(), spawn(0, 0, 100), sample(1000, 0, 100, 50e6), sample(2000, 0, 100, 60e6)])
  const first = picture.news(T0 + 2000, STATUS)
  t.same(first.memory, [{
    slot: 0,
    points: [
      { t: T0 + 1000, bytes: 50e6, budget: 100 * 1024 ** 2 }, { t: T0 + 2000, bytes: 60e6, budget: 100 * 1024 ** 2 }
    ]
  }])
  t.same(picture.news(T0 + 2500, STATUS).memory, [])
  for (const one of [sample(3000, 0, 100, 70e6), ...recycle(4000), line(5000, 'worker.crash', { slot: 1, pid: 7, code: 1, signal: null, inFlight: 2 })]) picture.hear(one)
  const second = picture.news(T0 + 5000, STATUS)
  t.match(second.recycleEvents, [{ id: 1, slot: 0, oldPid: 100, pid: 101, cut: 0, moved: 10 }])
  t.match(second.crashEvents, [{ slot: 1, pid: 7, inFlight: 2 }])
  t.match(second.about, { recycles: 1, crashes: 1, cut: 0, moved: 5, moves: ['2 from workers that left', '3 by load'], startedAt: T0, byReason: { rss: 1 }, verdict: { text: '0 cut over 1 recycle; 1 crash with 2 requests in flight' } })
  t.same(picture.news(T0 + 5001, STATUS).recycleEvents, [])
  const whole = picture.whole(T0 + 5001, STATUS)
  t.same(whole.recycleEvents, second.recycleEvents)
  t.same(whole.crashEvents, second.crashEvents)
  t.same(whole.memory[0].points.length, first.memory[0].points.length + second.memory[0].points.length)
})

t.test('points are sorted by time, in whatever order they arrive', async t => {
  const lines = recycle(4000)
  const picture = pictureOf([fleetStart(), spawn(0, 0, 100), sample(
    1000, 0, 100, 50e6
  ), ...lines.slice(0, -1), sample(4160, 0, 101, 51e6), ...lines.slice(-1)])
  const times = picture.whole(T0 + 5000, STATUS).memory[0].points.map(point => point.t - T0)
  t.same(times, [...times].sort((a, b) => a - b))
  t.same(times, [1000, 4050, 4160, 4170], 'the drop is drawn where the drain began')
})

t.test('requests per second count all workers, across a recycle', async t => {
  const picture = pictureOf([fleetStart()])
  picture.look(T0, status([{ pid: 1, requests: 100 }]), 0)
  picture.look(
    T0 + 1000, status([{ pid: 1, requests: 150, loopLagMs: 3 }, { pid: 2, requests: 10, loopLagMs: 8 }]), 1000
  )
  picture.hear(line(1500, 'worker.retire', { slot: 0, pid: 1, requests: 170 }))
  picture.look(T0 + 3000, status([{ pid: 2, requests: 30 }]), 2000)
  t.match(picture.whole(T0 + 3000, STATUS).traffic, [
    { t: T0 + 1000, perSecond: 60, lagMs: 8 }, { t: T0 + 3000, perSecond: 20, lagMs: null }
  ])
})

t.test('responses with 5xx a second over all workers, and the longest times of any', async t => {
  const picture = pictureOf([fleetStart()])
  const worker = (/** @type {number} */ pid, /** @type {number} */ serverErrors, /** @type {number | null} */ ms) =>
    ({ pid, requests: 0, serverErrors, responseP50Ms: ms, responseP99Ms: ms && 2 * ms })
  picture.look(T0, status([{ pid: 1, requests: 0 }]), 1000)
  picture.look(T0 + 1000, status([worker(1, 5, 4), worker(2, 1, 9)]), 1000)
  picture.look(T0 + 3000, status([worker(1, 9, null), worker(3, 0, null)]), 2000)
  t.match(picture.whole(T0 + 3000, STATUS).traffic, [
    { errorsPerSecond: null, p50: null, p99: null }, { errorsPerSecond: 6, p50: 9, p99: 18 },
    { errorsPerSecond: 2, p50: null, p99: null }
  ])
})

t.test('workers over time beside the load, the bounds, and the last change', async t => {
  const picture = pictureOf([fleetStart()])
  const first = status([{ pid: 1, requests: 0, state: 'ready', elu: 0.9 }])
  picture.look(T0, first, 1000)
  t.match(picture.whole(T0, first), { size: { wanted: 1, change: null }, autoscale: null })

  const autoscale = { min: 1, max: 4, isPinned: false }
  picture.hear(line(500, 'fleet.scale', { from: 1, to: 3, reason: 'busy', slots: [0, 1, 2], busy: 0.9, requestsPerSecond: 10 }))
  const later = status([{ pid: 1, requests: 5, state: 'ready', elu: 0.75 }, { pid: 2, requests: 0, state: 'ready', elu: 0.5 }, { pid: 3, requests: 0, state: 'spawning', elu: 1 }], { autoscale })
  picture.look(T0 + 1000, later, 1000)
  const { size, traffic, autoscale: shown } = /** @type {any} */ (picture.news(T0 + 1000, later))
  t.same(size, { wanted: 3, change: { t: T0 + 500, from: 1, to: 3, reason: 'busy' } })
  t.same(shown, autoscale)
  t.match(traffic, [{ t: T0, wanted: 1, ready: 1, busy: 0.9 }, { t: T0 + 1000, wanted: 3, ready: 2, busy: 1.25 }])
})

t.test('when the clock is set back, points now in the future are removed, and requests per second are unchanged', async t => {
  const picture = pictureOf([fleetStart(), spawn(0, 0, 100), sample(100, 0, 100, 50e6), ...recycle(1000)])
  picture.look(T0 + 2000, status([{ pid: 1, requests: 100 }]), 1000)
  const back = T0 - 3 * 24 * 3600 * 1000
  picture.hear({ ...sample(0, 0, 101, 51e6), t: back, requests: 0 })
  picture.look(back, status([{ pid: 1, requests: 150 }]), 1000)
  const { memory, traffic, recycleEvents, about } = picture.whole(back, STATUS)
  t.same(memory.map(({ points }) => points.map(point => point.t)), [[back]])
  t.match(traffic, [{ t: back, perSecond: 50, lagMs: null }])
  t.equal(traffic.length, 1)
  t.same(recycleEvents, [])
  t.equal(about.recycles, 1, 'the request is counted all the same')
})

t.test('it keeps one window of the past, and no more slots than a page can draw', async t => {
  const lines = [fleetStart(), ...recycle(0)]
  for (let slot = 0; slot < 200; slot++) lines.push(spawn(0, slot, 1000 + slot))
  for (let ms = 0; ms < 5 * WINDOW_MS; ms += 500) {
    for (let slot = 0; slot < 200; slot++) lines.push(sample(ms, slot, 1000 + slot, 50e6 + ms))
  }
  const picture = pictureOf(lines)
  const now = T0 + 5 * WINDOW_MS
  picture.look(now, status([]), 500)
  const { memory, recycleEvents, about } = picture.whole(now, STATUS)
  t.equal(memory.length, 200)
  t.ok(memory.every(({ points }) => points.length > 10 && points.every(point => point.t >= now - WINDOW_MS)))
  t.ok(memory.reduce((sum, { points }) => sum + points.length, 0) <= 6200)
  t.same(recycleEvents, [], 'the event has ended')
  t.equal(about.recycles, 1, 'and is still counted')
  picture.look(now + 2 * WINDOW_MS, status([]), 500)
  t.same(picture.whole(now + 2 * WINDOW_MS, STATUS).memory, [], 'removed slots')
})
