'use strict'

const fc = require('fast-check')
const t = require('tap')
const { blockBetween, countCollection, countResponse, memorySince, newConnection, newCounts, poolCounts, sumsOf } = require('../../../lib/features/canary/counts')
const { RESPONSES } = require('../../../lib/features/canary/kinds')
const { addGroup, noSums, ratioOf, varianceOf } = require('../../../lib/features/canary/sums')
const { addTime, quantileOf, thresholdsOf } = require('../../../lib/features/canary/times')

const THRESHOLDS = { medianMs: 20, tailMs: 200 }
const response = fc.record({
  on: fc.nat({ max: 8 }),
  isUnfinished: fc.nat({ max: 9 }).map(draw => draw === 0),
  hasBody: fc.boolean(),
  status: fc.constantFrom(200, 204, 302, 304, 400, 404, 499, 500, 503, 599),
  ms: fc.double({ min: 0, max: 400, noNaN: true })
})
const responses = fc.array(response, { maxLength: 150 })

/** @typedef {{ status: number, ms: number, isUnfinished: boolean, hasBody: boolean }} Response */

/** @param {(Response & { on: number })[]} list */
function counted (list) {
  const counts = newCounts()
  /** @type {Map<number, import('../../../lib/features/canary/counts').Connection>} */
  const connections = new Map()
  for (const { on, ...rest } of list) {
    const connection = connections.get(on) ?? newConnection()
    connections.set(on, connection)
    countResponse(counts, connection, rest, THRESHOLDS)
  }
  return counts
}

/** @type {Record<string, (response: Response) => boolean>} */
const IS = {
  errors: ({ status, isUnfinished }) => !isUnfinished && status >= 500,
  unfinished: ({ isUnfinished }) => isUnfinished,
  refusals: ({ status, isUnfinished }) => !isUnfinished && status >= 400 && status < 500,
  empty: ({ status, isUnfinished, hasBody }) => !isUnfinished && (status === 302 || (status === 200 && !hasBody)),
  slowMedian: ({ ms, isUnfinished }) => !isUnfinished && ms > 20,
  slowTail: ({ ms, isUnfinished }) => !isUnfinished && ms > 200
}

t.test('the sums that are kept are those of the list of all responses', async t => {
  fc.assert(fc.property(responses, list => {
    const counts = counted(list)
    for (const kind of RESPONSES) {
      const sums = noSums()
      for (const on of new Set(list.map(({ on }) => on))) {
        const own = list.filter(response => response.on === on)
        addGroup(sums, own.filter(IS[kind]).length, own.length)
      }
      t.same(sumsOf(counts, kind), sums)
    }
  }), { seed: 55, numRuns: 60 })
})

t.test('the variance of a ratio is that of the differences of its groups', async t => {
  const groups = [[1, 10], [5, 20], [0, 30], [4, 5]]
  const sums = noSums()
  for (const [k, n] of groups) addGroup(sums, k, n)
  const square = groups.reduce((sum, [k, n]) => sum + (k - 10 / 65 * n) ** 2, 0)
  t.equal(ratioOf(sums), 10 / 65)
  t.ok(Math.abs(varianceOf(sums) - square / 65 ** 2 * 4 / 3) < 1e-15)
  t.ok(Number.isNaN(varianceOf({ ...sums, groups: 1 })))
})

t.test('without thresholds no response is slow', async t => {
  const counts = newCounts()
  countResponse(counts, newConnection(), { status: 200, ms: 1e9 }, null)
  t.ok(RESPONSES.every(kind => counts.of[kind] === 0))
  t.equal(counts.requests, 1)
})

t.test('counts are plain data, and their size is bounded whatever the times', async t => {
  const counts = newCounts()
  const connection = newConnection()
  for (const ms of [-5, 0, 0.001, NaN, 1e12, Infinity]) {
    countResponse(counts, connection, { status: 200, ms }, THRESHOLDS)
  }
  for (let ms = 0.01; ms < 1e8; ms *= 1.01) countResponse(counts, connection, { status: 200, ms }, THRESHOLDS)
  t.same(JSON.parse(JSON.stringify(counts)), counts)
  t.ok(Object.keys(counts.times).length <= 372, String(Object.keys(counts.times).length))
})

t.test('a quantile of times is within 5 %', async t => {
  fc.assert(fc.property(fc.array(fc.double({ min: 0.05, max: 1e5, noNaN: true }), { minLength: 1, maxLength: 80 }),
    fc.constantFrom(0.5, 0.99, 1), (list, share) => {
    /** @type {import('../../../lib/features/canary/times').Times} */
      const times = {}
      for (const ms of list) addTime(times, ms)
      const exact = [...list].sort((a, b) => a - b)[Math.ceil(share * list.length) - 1]
      const ratio = Number(quantileOf(times, share)) / exact
      return ratio > 1 / 1.0501 && ratio < 1.0501
    }), { seed: 55 })
  t.equal(quantileOf({}, 0.5), null)
})

t.test('the thresholds of the new code are 5 % above those of the old, and at least half a millisecond', async t => {
  /** @type {import('../../../lib/features/canary/times').Times} */
  const times = {}
  for (let i = 1; i <= 1000; i++) addTime(times, i / 125)
  const { old, fresh } = /** @type {NonNullable<ReturnType<typeof thresholdsOf>>} */ (thresholdsOf([times]))
  t.ok(Math.abs(old.medianMs - 4) < 0.2 && Math.abs(old.tailMs - 7.92) < 0.4, JSON.stringify(old))
  t.same(fresh, { medianMs: old.medianMs + 0.5, tailMs: old.tailMs + 0.5 })
  const slow = thresholdsOf([{ 300: 10 }])
  t.equal(slow?.fresh.medianMs, 1.05 * Number(slow?.old.medianMs))
  t.equal(thresholdsOf([{}]), null)
})

t.test('memory grows between collections; what a mark-sweep frees is no growth, and is in the growth from mark-sweep to mark-sweep', async t => {
  const { memory } = newCounts()
  /** @type {[number, number, boolean][]} */
  const points = [
    [0, 1000, false], [10, 1100, false], [20, 1300, false], [30, 900, true], [40, 1000, false], [50, 950, true]
  ]
  for (const [requests, liveBytes, isSweep] of points.slice(0, 4)) {
    countCollection(memory, { requests, liveBytes }, isSweep)
  }
  const half = structuredClone(memory)
  for (const [requests, liveBytes, isSweep] of points.slice(4)) {
    countCollection(memory, { requests, liveBytes }, isSweep)
  }
  t.match(memory, { ramps: { groups: 3, k: 400, n: 30 }, sweeps: { groups: 1, k: 50, n: 20 } })
  t.match(
    memorySince(memory, half), { ramps: { groups: 1, k: 100, n: 10, kk: 10_000 }, sweeps: { groups: 1, k: 50, n: 20 } }
  )
})

t.test('a block is what came between two readings', async t => {
  fc.assert(fc.property(responses, responses, (first, then) => {
    const [earlier, later] = [counted(first), counted([...first, ...then])]
    earlier.busyMs = 5
    later.busyMs = 12
    const block = blockBetween(later, earlier)
    t.equal(block.busyMs, 7)
    t.equal(block.requests, then.length)
    for (const kind of RESPONSES) t.equal(block[kind], then.filter(IS[kind]).length)
  }), { seed: 55, numRuns: 30 })
})

t.test('the counts of a worker and of its successor are one', async t => {
  fc.assert(fc.property(responses, responses, (first, then) => {
    const [pooled, whole] = [
      poolCounts([counted(first), counted(then)]),
      counted([...first, ...then.map(response => ({ ...response, on: response.on + 100 }))])
    ]
    t.same(pooled, whole)
  }), { seed: 55, numRuns: 30 })
  t.same(poolCounts([]), newCounts())
})
