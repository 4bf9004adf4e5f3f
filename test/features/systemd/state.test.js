'use strict'

const t = require('tap')
const { ServiceState, longestRecycleMs } = require('../../../lib/features/systemd/state')

const TIMEOUTS = /** @type {any} */ ({
  readyTimeoutMs: 30_000, drainTimeoutMs: 20_000, killTimeoutMs: 5000, stopTimes: { totalMs: 35_000 }
})
const EXTENDED = { EXTEND_TIMEOUT_USEC: 75_000_000 } // the three, 10 s, and 10 s for requests that move

/**
 * @param {...[event: string, fields?: Record<string, any>, isReady?: boolean]} lines
 * @returns what is told at each
 */
function told (...lines) {
  const state = new ServiceState(TIMEOUTS, 'fleet.upgraded')
  return lines.map(([event, fields = {}, isReady = true]) => state.hear({ event, ...fields }, () => isReady, 42))
}

t.test('the replacement of a worker may take as long as its timeouts allow', async t => {
  t.equal(longestRecycleMs(TIMEOUTS), 75_000)
})

t.test('the service is ready once, when enough workers are', async t => {
  t.same(told(['fleet.start', {}, false], ['worker.ready', {}, false], ['worker.ready'], ['worker.crash', {}, false], ['worker.ready']),
    [{ EXTEND_TIMEOUT_USEC: 40_000_000 }, {}, { READY: 1 }, {}, {}])
})

t.test('a reload is announced, extended by each replacement, and ends with the latest one that was asked for', async t => {
  t.same(told(['worker.ready'], ['worker.spawn'], ['fleet.reload', { generation: 1 }], ['worker.spawn'], ['fleet.reload', { generation: 2 }], ['recycled'], ['fleet.reloaded', { generation: 1 }], ['fleet.reloaded', { generation: 2 }], ['recycled']),
    [{ READY: 1 }, {}, { RELOADING: 1, MONOTONIC_USEC: 42, ...EXTENDED }, EXTENDED, {}, EXTENDED, {}, { READY: 1 }, {}])
})

t.test('a reload that is stopped ends too', async t => {
  t.same(told(['worker.ready'], ['fleet.reload', { generation: 1 }], ['fleet.warning', { warning: 'sigusr2' }], ['fleet.warning', { warning: 'rollout-stopped' }]).slice(2), [{}, { READY: 1 }])
})

t.test('a reload that tries its code takes as long as the user wants: each sample extends it; it ends as it is rejected, or with the reload', async t => {
  const RELOADING = { RELOADING: 1, MONOTONIC_USEC: 42, ...EXTENDED }
  t.same(told(['worker.ready'], ['worker.sample'], ['fleet.trial', { generation: 1 }], ['worker.sample'], ['fleet.rejected', { generation: 1 }], ['worker.sample']).slice(1), [{}, RELOADING, EXTENDED, { READY: 1 }, {}])
  t.same(told(['worker.ready'], ['fleet.trial', { generation: 1 }], ['fleet.reload', { generation: 1 }], ['worker.sample'], ['fleet.reloaded', { generation: 1 }]).slice(1), [RELOADING, {}, {}, { READY: 1 }])
  t.same(told(['worker.ready'], ['fleet.trial', { generation: 1 }], ['fleet.stopping', {}, false], ['worker.sample', {}, false]).slice(3), [{}])
})

t.test('a reload while the fleet starts is part of the start', async t => {
  t.same(told(['fleet.reload', { generation: 1 }, false], ['worker.ready'], ['fleet.reloaded', { generation: 1 }]), [{}, { READY: 1 }, {}])
})

t.test('a stop ends whatever was under way', async t => {
  t.same(told(['worker.ready'], ['fleet.reload', { generation: 1 }], ['fleet.stopping', {}, false], ['recycled', {}, false], ['fleet.reloaded', { generation: 1 }, false]).slice(2),
    [{ STOPPING: 1, EXTEND_TIMEOUT_USEC: 35_000_000 }, {}, {}])
})
