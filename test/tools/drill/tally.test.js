'use strict'

const fc = require('fast-check')
const t = require('tap')
const { Tally, mergeTicks } = require('../../../lib/tools/drill/tally')
const { Histogram } = require('../../../lib/tools/report/histogram')

t.test('requests go to the bucket in which they end', async t => {
  const tally = new Tally()
  tally.answered(1000, 1.2345)
  tally.answered(1249.9, 1.2349)
  tally.dropped(1250)
  tally.answered(2000, 12345)
  t.same(tally.take(1500), [
    { t: 1000, ms: 250, requests: 2, dropped: 0, latency: [[1.23, 2]] },
    { t: 1250, ms: 250, requests: 1, dropped: 1, latency: [] }
  ])
  t.same(tally.take(Infinity), [
    { t: 1500, ms: 250, requests: 0, dropped: 0, latency: [] },
    { t: 1750, ms: 250, requests: 0, dropped: 0, latency: [] },
    { t: 2000, ms: 250, requests: 1, dropped: 0, latency: [[12300, 1]] }
  ])
})

t.test('no request is lost or counted twice, however the buckets are taken, and the buckets have no gaps', async t => {
  const event = fc.record({ afterMs: fc.double({ min: 0, max: 400, noNaN: true }), kind: fc.constantFrom('answered', 'dropped', 'take'), latency: fc.double({ min: 0, max: 1e5, noNaN: true }) })
  t.doesNotThrow(() => fc.assert(fc.property(fc.array(event), events => {
    const tally = new Tally()
    const ticks = []
    let now = 1e12
    for (const { afterMs, kind, latency } of events) {
      now += afterMs
      if (kind === 'take') ticks.push(...tally.take(now))
      else tally[kind](now, latency)
    }
    ticks.push(...tally.take(Infinity))
    const count = (/** @type {string} */ kind) => events.filter(event => event.kind === kind).length
    const answered = ticks.flatMap(tick => tick.latency).reduce((sum, [, n]) => sum + n, 0)
    return ticks.reduce((sum, tick) => sum + tick.dropped, 0) === count('dropped') &&
      ticks.reduce((sum, tick) => sum + tick.requests, 0) === count('dropped') + count('answered') &&
      answered === count('answered') &&
      ticks.every((tick, i) => i === 0 || tick.t === ticks[i - 1].t + 250)
  })))
})

t.test('ticks of several processes add up', async t => {
  t.same(mergeTicks(
    { t: 0, ms: 250, requests: 3, dropped: 1, latency: [[1, 1], [5, 1]] },
    { t: 0, ms: 250, requests: 2, dropped: 0, latency: [[0.5, 1], [5, 1]] }
  ), { t: 0, ms: 250, requests: 5, dropped: 1, latency: [[0.5, 1], [1, 1], [5, 2]] })
})

t.test('percentiles', async t => {
  const latency = new Histogram()
  for (const [ms, times] of [[10, 1], [1, 98], [5, 1]]) latency.count(ms, times)
  t.same(latency.percentiles([0.5, 0.99, 1]), [1, 5, 10])
  t.same(new Histogram().percentiles([0.99]), [null])
})
