'use strict'

const t = require('tap')
const { Counter, Gauge, Registry, Summary } = require('prom-client')
const { parseMetrics, lasting, sumOf } = require('../../../lib/features/app-metrics/primary')

/** A worker's metrics, as they are sent. */
async function jsonOf (count) {
  const registry = new Registry()
  const registers = [registry]
  new Counter({ name: 'a_total', help: 'a', labelNames: ['x'], registers }).inc({ x: 'y' }, count)
  new Gauge({ name: 'b', help: 'b', registers }).set(count)
  new Summary({ name: 'c', help: 'c', registers }).observe(count)
  new Counter({ name: 'recycle_x_total', help: 'taken', registers }).inc()
  return JSON.stringify(await registry.getMetricsAsJSON())
}

t.test('the metrics of workers are added up; of one that is gone, counters and the sums of summaries remain', async t => {
  const [first, second] = [parseMetrics(await jsonOf(2)), parseMetrics(await jsonOf(3))]
  const both = await sumOf([first, second]).metrics()
  t.match(both, /a_total\{x="y"\} 5/)
  t.match(both, /^b 5$/m)
  t.notMatch(both, /recycle_x_total/)
  const gone = await sumOf([lasting(first), second]).metrics()
  t.match(gone, /a_total\{x="y"\} 5/)
  t.match(gone, /^b 3$/m)
  t.match(gone, /^c_count 2$/m)
  t.match(gone, /^c_sum 5$/m)
  const twice = await sumOf([(await sumOf([lasting(first), lasting(second)]).getMetricsAsJSON()), second]).metrics()
  t.match(twice, /a_total\{x="y"\} 8/, 'a sum can be added to')
})

t.test('what is no metric is left out, and what is no list is refused', async t => {
  t.same(parseMetrics('[null, 1, {"name":"a"}, {"name":"a","type":"counter","help":"a","values":[]}]'), [{ name: 'a', type: 'counter', help: 'a', values: [] }])
  t.throws(() => parseMetrics('{}'))
  t.throws(() => parseMetrics('x'))
})
