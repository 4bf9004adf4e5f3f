'use strict'

const path = require('node:path')
const t = require('tap')
const { FIXTURES, startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { startCollector } = require('../support/otlp-collector')

// The whole package is large: OTEL_REGISTER=<folder>/@opentelemetry/auto-instrumentations-node/build/src/register.js
// tries it.
const REGISTER = process.env.OTEL_REGISTER ?? path.join(FIXTURES, 'telemetry.js')
const SERVER = 2 // a span's kind
const NEVER = '600000' // ms: nothing is sent before a worker is told to end

for (const fork of /** @type {const} */ (['spawn', 'mold'])) {
  t.test(`OpenTelemetry has a span and a count of each request, over hand-offs, and each worker sends its own before it leaves: --fork ${fork}`, async t => {
    const { url, spans, metrics } = await startCollector(t)
    Object.assign(process.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_NODE_RESOURCE_DETECTORS: 'process',
      OTEL_SEMCONV_STABILITY_OPT_IN: 'http',
      OTEL_BSP_SCHEDULE_DELAY: NEVER,
      OTEL_BSP_MAX_QUEUE_SIZE: '100000',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '100000',
      OTEL_METRIC_EXPORT_INTERVAL: NEVER
    })
    const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 2, fork, nodeOption: `--require=${REGISTER}`, killTimeout: '20s' })
    const load = new Load({ port, connections: 10 })
    t.teardown(() => load.stop())
    await load.after(50)
    t.same(spans, [])
    await supervisor.reload()
    const ofThoseThatLeft = events.all('worker.retire').map(({ requests }) => requests)
    t.equal(spans.filter(({ kind }) => kind === SERVER).length, ofThoseThatLeft[0] + ofThoseThatLeft[1], 'a worker that is gone has sent what it had')
    await load.after(50)
    const { requests, failures, sockets } = await load.stop()
    t.same({ failures, sockets }, { failures: [], sockets: 10 }, 'no client reconnected')
    await supervisor.stop()

    const served = spans.filter(({ kind }) => kind === SERVER)
    t.equal(served.length, requests)
    t.same(new Set(served.map(({ attributes }) => attributes['http.response.status_code'])), new Set([200]))
    const durations = metrics.filter(({ name }) => name === 'http.server.request.duration').flatMap(({ points }) => points)
    t.equal(durations.reduce((sum, { count }) => sum + count, 0), requests)
    t.same(events.all('worker.retire').map(({ code, signal }) => ({ code, signal })), Array(4).fill({ code: 0, signal: null }), 'none was killed')
    t.same(events.all('worker.crash'), [])
  })
}
