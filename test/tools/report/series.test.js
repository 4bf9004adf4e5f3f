'use strict'

const fc = require('fast-check')
const t = require('tap')
const { Histogram, readPairs } = require('../../../lib/tools/report/histogram')
const { BoundedList } = require('../../../lib/core/bounded-list')
const { TimeSpans } = require('../../../lib/tools/report/time-spans')
const { Timeline } = require('../../../lib/tools/report/timeline')

t.test('percentiles are those of the sorted list, to three digits', async t => {
  const latency = fc.double({ min: 0.001, max: 1e6, noNaN: true })
  fc.assert(fc.property(fc.array(latency, { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }),
    (list, share) => {
      const histogram = new Histogram()
      histogram.add(readPairs(list.map(ms => [ms, 1])))
      const exact = list.sort((a, b) => a - b)[Math.max(0, Math.ceil(share * list.length) - 1)]
      const [found] = histogram.percentiles([share])
      return Math.abs(found - exact) <= Math.max(exact * 0.006, 0.0005)
    }))
})

t.test('a histogram counts its values and merges exactly', async t => {
  const one = new Histogram()
  const other = new Histogram()
  one.add(readPairs([[1, 2], [250, 1]]))
  other.add(readPairs([[1, 3], ['x', 4], [5, -1], null, [NaN, 2]]))
  other.add(readPairs('no pairs'))
  one.merge(other)
  t.equal(one.total, 6)
  t.match(one.summary(), { p50: 1, max: 250, requests: 6 })
  t.equal(new Histogram().summary(), null)
})

t.test('spans overlap exactly what they cover', async t => {
  const span = fc.tuple(fc.nat(1000), fc.nat(50)).map(([from, length]) => [from, from + length])
  fc.assert(fc.property(fc.array(span), span, (list, [from, to]) => {
    const spans = new TimeSpans()
    for (const one of list) spans.add(...one)
    return spans.overlaps(from, to) === list.some(([a, b]) => a < to && b >= from)
  }))
})

t.test('a hundred thousand spans are still found, in bounded memory', async t => {
  const spans = new TimeSpans()
  for (let i = 0; i < 100_000; i++) spans.add(i * 60_000, i * 60_000 + 10)
  t.equal(spans.overlaps(59_999 * 60_000, 59_999 * 60_000 + 5), true)
  t.equal(spans.overlaps(-100, -50), false)
})

t.test('a timeline keeps every sum, and never exceeds its limit of cells', async t => {
  fc.assert(fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 })), fc.integer({ min: 2, max: 20 }),
    (times, capacity) => {
      const timeline = new Timeline({
        widthMs: 10, capacity: () => capacity, empty: () => ({ n: 0 }), merge: (a, b) => { a.n += b.n }
      })
      for (const time of times) timeline.at(time).n++
      const cells = timeline.list()
      return cells.length <= capacity && cells.reduce((sum, { cell }) => sum + cell.n, 0) === times.length
    }))
})

t.test('a bounded list keeps the latest entries, and the marked ones', async t => {
  const kept = new BoundedList(10, item => item % 100 === 0)
  for (let i = 0; i < 1000; i++) kept.push(i)
  kept.thin()
  t.same(kept.items, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 990, 991, 992, 993, 994, 995, 996, 997, 998, 999])
  t.equal(kept.omitted, 980)
})
