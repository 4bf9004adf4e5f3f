'use strict'

const t = require('tap')
const { countFailures, failureOf, isHealthy, nextProbeMs } = require('../../../lib/features/health/primary')

const found = (/** @type {number | null} */ status, why = null, isSkipped = false) => ({ status, why, isSkipped })

t.test('statuses from 200 to 399 are a success, as in Kubernetes', async t => {
  for (const status of [200, 204, 302, 399]) t.ok(isHealthy(found(status)), String(status))
  for (const status of [null, 101, 199, 400, 404, 500, 503]) t.notOk(isHealthy(found(status)), String(status))
})

t.test('failures are counted in a row; a probe that could not be made changes nothing', async t => {
  t.equal(countFailures(2, found(500)), 3)
  t.equal(countFailures(2, found(200)), 0)
  t.equal(countFailures(2, found(null, /** @type {any} */ ('no descriptor'), true)), 2)
})

t.test('a failure in words', async t => {
  t.equal(failureOf(found(503), '/healthz'), 'GET /healthz: status 503')
  t.equal(failureOf(found(null, /** @type {any} */ ('socket hang up')), '/'), 'GET /: socket hang up')
})

t.test('a worker that boots is probed more often', async t => {
  t.equal(nextProbeMs(true, 10_000), 10_000)
  t.equal(nextProbeMs(false, 10_000), 250)
  t.equal(nextProbeMs(false, 100), 100)
})
