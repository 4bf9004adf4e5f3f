'use strict'

const fc = require('fast-check')
const t = require('tap')
const { RouteMemory } = require('../../../lib/features/leaks/route-memory')
const { extent } = require('../../support/campaign')
const { leaking } = require('../../support/leaking')

/** @param {import('../../../lib/features/leaks/route-memory').Point[]} points */
function estimateOf (points) {
  const memory = new RouteMemory()
  for (const point of points) memory.add(point)
  return memory.estimate()
}

/** @param {ReturnType<typeof estimateOf>} estimate */
const named = ({ routes }) => routes.filter(({ leaks }) => leaks).map(({ route }) => route).sort()

const seeds = fc.integer({ min: 1, max: 1e6 })

t.test('one route of ten leaks: it is named, no other is, and the interval holds what it keeps', async t => {
  const kept = fc.integer({ min: 30, max: 500 }).map(kilobytes => kilobytes * 1000)
  fc.assert(fc.property(seeds, fc.nat(9), kept, fc.constantFrom(0, 2e6), (seed, leak, bytes, jumps) => {
    const estimate = estimateOf(leaking({ seed, kept: { [leak]: bytes }, jumps }))
    const route = `GET /${'abcdefghij'[leak]}`
    const [first] = estimate.routes
    return String(named(estimate)) === route && estimate.lack === null && Number(first.low) <= bytes && bytes <= Number(first.high) && estimate.text.startsWith(`${route} keeps`)
  }), { numRuns: extent({ short: 15, long: 40 }), seed: 31 })
  t.pass()
})

t.test('two leak: both are named', async t => {
  fc.assert(fc.property(seeds, seed => {
    return String(named(estimateOf(leaking({ seed, kept: { 2: 50e3, 6: 100e3 } })))) === 'GET /c,GET /g'
  }), { numRuns: extent({ short: 10, long: 20 }), seed: 31 })
  t.pass()
})

t.test('it takes a minute of three workers with ten requests of each route a second', async t => {
  const points = leaking({ seed: 5, kept: { 3: 50e3 }, seconds: 60, sweepEvery: 25 })
  t.same(named(estimateOf(points)), ['GET /d'])
})

/** @type {[string, Omit<Parameters<typeof leaking>[0], 'seed'>][]} */
const WITHOUT = [
  ['nothing leaks', {}],
  ['memory wanders', { walk: 300e3 }],
  ['tables double', { jumps: 4e6 }],
  ['memory grows by itself', { perSecond: 200e3 }],
  ['it grows by itself, beside a health check once a second', { perSecond: 200e3, hasProbe: true }],
  ['requests of all routes keep the same', { kept: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i, 20e3])) }],
  ['a slow route leaves garbage that only a mark-sweep frees', { garbage: { 4: 50e3 }, sweepEvery: 20 }],
  ['what requests of a route need is alive for a second', { brief: { 4: 100e3 } }],
  ['traffic is the same on all routes, and one of them leaks', { kept: { 3: 50e3 }, isEven: true }]
]

for (const [what, how] of WITHOUT) {
  t.test(`not enough evidence: ${what}`, async t => {
    let wrong = 0
    for (let seed = 1; seed <= 20; seed++) {
      const estimate = estimateOf(leaking({ seed, ...how }))
      if (estimate.lack === null) wrong++
      else t.match(estimate.text, /^not enough evidence that a route leaks: /)
    }
    t.equal(wrong, 0, 'of 20')
  })
}

t.test('a route whose requests cannot be told from those of others has no figure', async t => {
  const { lack, routes } = estimateOf(leaking({ seed: 1, kept: { 3: 50e3 }, isEven: true }))
  t.equal(lack, 'unclear')
  t.equal(routes.length, 10)
  t.ok(routes.every(({ bytesPerRequest, low, high, leaks }) =>
    bytesPerRequest === null && low === null && high === null && !leaks))
})

t.test('what is garbage is told by a mark-sweep, and until there was one no route is named', async t => {
  const how = { seed: 7, kept: { 3: 80e3 }, seconds: 80 }
  const before = estimateOf(leaking({ ...how, sweepEvery: Infinity }))
  t.match(before, { lack: 'no-mark-sweep', text: /GET \/d stands out, but no worker has finished a mark-sweep yet/ })
  t.same(named(before), [])
  t.same(named(estimateOf(leaking({ ...how, sweepEvery: 40 }))), ['GET /d'])
})

t.test('the samples from mark-sweep to mark-sweep find a leak among much garbage', async t => {
  const garbage = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i, 60e3]))
  const points = leaking({ seed: 3, kept: { 3: 50e3 }, garbage, sweepEvery: 3, seconds: 400 })
  t.same(named(estimateOf(points)), ['GET /d'])
})

t.test('with one route there is nothing to compare it with', async t => {
  t.match(estimateOf(leaking({ seed: 1, routes: 1, kept: { 0: 50e3 } })), { lack: 'one-route', routes: [{ route: 'GET /a', leaks: false }] })
})

t.test('without samples, and with few, it says so', async t => {
  t.match(estimateOf([]), { lack: 'few-samples', points: 0, routes: [] })
  t.match(estimateOf(leaking({ seed: 1, seconds: 6 })), { lack: 'few-samples' })
})

t.test('memory is bounded, whatever comes: workers, points, routes', async t => {
  const memory = new RouteMemory()
  const points = leaking({ seed: 2, kept: { 3: 50e3 }, workers: 40, seconds: 200 })
  for (const point of points) memory.add(point)
  const { points: left, routes } = memory.estimate()
  t.ok(left <= 1000, String(left))
  t.same(routes.filter(({ leaks }) => leaks).map(({ route }) => route), ['GET /d'])
  for (let i = 0; i < 2000; i++) memory.add({ pid: 1e6, upMs: 1000 * i, liveBytes: 1e6, markSweeps: 0, requests: { other: 100, [`GET /${i}`]: 40 } })
  t.ok(memory.estimate().routes.length <= 64)
})

t.test('a pid that is used again is another worker; after a reset nothing is left', async t => {
  const memory = new RouteMemory()
  for (const point of leaking({ seed: 1, workers: 1, seconds: 20 })) memory.add(point)
  for (const point of leaking({ seed: 2, workers: 1, seconds: 20 })) memory.add(point)
  t.equal(memory.estimate().points, 20)
  memory.reset()
  t.match(memory.estimate(), { points: 0, routes: [] })
})
