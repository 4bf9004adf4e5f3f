'use strict'

/**
 * The journal holds the inputs of every verdict: judged again from its lines alone, the same workers are condemned,
 * for the same reasons, at the same samples. test/integration/verdicts.test.js has the journals of real fleets.
 */

const { EventEmitter } = require('node:events')
const t = require('tap')
const fc = require('fast-check')
const { RecycleBackoff } = require('../../lib/tables/recycle-backoff')
const { message } = require('../../lib/core/envelope')
const { now } = require('../../lib/primary/clock')
const { WorkerHandle } = require('../../lib/primary/workers/worker-handle')
const { RunningFeatures } = require('../../lib/primary/features')
const { Sampler } = require('../../lib/primary/measuring/sampler')
const { Warnings } = require('../../lib/primary/warnings')
const { extent } = require('../support/campaign')
const { replay, decided } = require('../support/replay')

/** A second implementation of the verdict, over a worker's whole history. @param {any[]} lines of it */
function firstCause (lines) {
  const samples = lines.filter(line => line.event === 'worker.sample')
  for (let at = 0; at < samples.length; at++) {
    const budget = lines.slice(0, lines.indexOf(samples[at])).findLast(line => line.budget).budget
    const sizes = samples.map(sample => sample[`${budget.metric}Bytes`])
    const row = sizes.slice(Math.max(0, at + 1 - budget.samples), at + 1)
    const { t, ageMs, requests, requested, heapUsedBytes, heapLimitBytes, lagP99Ms, healthFailures } = samples[at]
    const counts = samples.map(sample => sample.fds ?? 0).slice(Math.max(0, at + 1 - budget.samples), at + 1)
    const causes = {
      'hard-rss': budget.hardBytes !== null && sizes[at] !== null && sizes[at] > budget.hardBytes,
      rss: budget.softBytes !== null && row.length === budget.samples && row.every(size =>
        size !== null && size > budget.softBytes),
      requests: budget.maxRequests !== null && requests >= budget.maxRequests,
      age: budget.maxAgeMs !== null && ageMs >= budget.maxAgeMs,
      heap: budget.maxHeap?.share !== undefined && heapUsedBytes > budget.maxHeap.share * heapLimitBytes,
      fds: budget.maxFds?.most !== undefined && counts.length === budget.samples && counts.every(fds =>
        fds > budget.maxFds.most),
      lag: budget.maxLagMs !== undefined && lagP99Ms > budget.maxLagMs,
      unhealthy: budget.maxHealthFailures !== undefined && healthFailures >= budget.maxHealthFailures,
      requested: requested === 'requested',
      stuck: requested === 'stuck',
      reload: requested === 'reload'
    }
    const cause = Object.entries(causes).find(([, is]) => is)
    if (cause) return { t, reason: cause[0] }
  }
  return null
}

const UP_MS = 10_000 // the lag of a fresh worker is not judged

const maybe = (/** @type {fc.Arbitrary<any>} */ value) => fc.option(value, { nil: null, freq: 3 })
const bytes = fc.integer({ min: 1, max: 100 })

const anyBudget = fc.record({
  metric: fc.constantFrom('rss', 'anon', 'pss', 'uss'),
  softBytes: maybe(fc.integer({ min: 30, max: 90 })),
  hardBytes: maybe(fc.integer({ min: 60, max: 110 })),
  samples: fc.integer({ min: 1, max: 4 }),
  maxRequests: maybe(fc.integer({ min: 1, max: 200 })),
  maxAgeMs: maybe(fc.integer({ min: UP_MS + 1, max: UP_MS + 20 })),
  maxHeap: fc.record({ share: fc.constantFrom(0.5, 0.9) }),
  maxFds: fc.record({ most: fc.integer({ min: 5, max: 40 }) }),
  maxLagMs: fc.integer({ min: 10, max: 100 }),
  maxHealthFailures: fc.integer({ min: 1, max: 5 })
}, { requiredKeys: ['metric', 'softBytes', 'hardBytes', 'samples', 'maxRequests', 'maxAgeMs'] })

const rarely = (/** @type {fc.Arbitrary<any>} */ usual, /** @type {fc.Arbitrary<any>} */ rare) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: rare })

const anyLook = fc.record({
  reading: fc.option(fc.record({
    rssBytes: bytes, anonBytes: maybe(bytes), pssBytes: maybe(bytes), ussBytes: maybe(bytes), meter: fc.constantFrom('statm', 'smaps_rollup')
  }), { nil: null, freq: 8 }),
  requests: fc.nat(20),
  heap: rarely(
    fc.constantFrom(null, { usedBytes: 20, limitBytes: 100 }), fc.constant({ usedBytes: 95, limitBytes: 100 })
  ),
  lagP99Ms: rarely(fc.constantFrom(null, 5), fc.integer({ min: 5, max: 110 })),
  fds: rarely(fc.constantFrom(null, 4), fc.integer({ min: 20, max: 60 })),
  failures: rarely(fc.constant(0), fc.nat(5)),
  silentMs: fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 400, max: 1100 }) }
  ),
  requested: fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom('requested', 'stuck') })
})

/** The seam to a worker's process, without one. @param {number} pid */
function fakeProcess (pid) {
  return Object.assign(new EventEmitter(), { pid, send () {}, kill () {} })
}

t.test('the sampler decides, and the journal\'s lines, through JSON, give every decision again', async t => {
  const worker = fc.record({ budget: anyBudget, looks: fc.array(anyLook, { minLength: 1, maxLength: 25 }) })
  let condemned = 0
  await fc.assert(fc.asyncProperty(fc.array(worker, { minLength: 1, maxLength: 3 }), async workers => {
    /** @type {string[]} */
    const journal = []
    const record = (/** @type {string} */ event, /** @type {any} */ fields) =>
      journal.push(JSON.stringify({ v: 1, t: Date.now(), event, ...fields }))
    let at = 0
    const handles = workers.map(({ budget, looks }, slot) => {
      const process = fakeProcess(2 ** 30 + slot)
      const handle = new WorkerHandle(slot, process, { id: 'a-1', generation: 0, budget: /** @type {any} */ (budget), required: { must: new Set(), late: new Set(), lateMs: 0 }, readyOn: 'listening' })
      record('worker.spawn', { slot, pid: handle.pid, budget: handle.budget })
      process.emit('message', message('listen', { id: 1, key: 'a', query: { address: null, port: 80, addressType: 4 } }))
      process.emit('message', message('listening', { key: 'a', missing: null }))
      handle.state = 'ready' // it has been called, and has answered
      record('worker.ready', { slot, pid: handle.pid })
      return { handle, looks }
    })
    const places = handles.map(() => ({ recycling: new RecycleBackoff() }))
    const fleet = {
      placeOf: (/** @type {WorkerHandle} */ { slot }) => places[Number(slot)],
      watched: () => handles.map(h => h.handle),
      rollout: { requested: () => null }
    }
    const meter = {
      probe: (/** @type {number} */ pid) => ({
        read: async () => handles[pid - 2 ** 30].looks[at]?.reading ?? null, close () {}
      })
    }
    const options = { intervalMs: 100, samples: 2, maxHeap: {}, maxFds: null, maxLagMs: 1, memoryByRoute: false, health: '/', heapdumpsPerDay: null, stuckTimeoutMs: 60_000 }
    const running = new RunningFeatures(/** @type {any} */ ({ options, now, takeover: null }))
    const features = {
      causeOf: () => null,
      probe: (/** @type {WorkerHandle} */ handle) => {
        const read = running.probe(handle)
        return async (/** @type {number} */ time) => ({
          ...await read(time), fds: handles[Number(handle.slot)].looks[at]?.fds ?? null, fdLimit: 100
        })
      }
    }
    const sampler = new Sampler(/** @type {any} */ ({
      options,
      features,
      fleet,
      meter,
      record,
      warnings: new Warnings(/** @type {any} */ (record)),
      autoSize: { observe () {} },
      tenure: { isOver: false }
    }))
    for (const { handle } of handles) {
      running.connect(handle)
      sampler.watch(handle)
      handle.upSince = now() - UP_MS
    }

    for (at = 0; at < 25; at++) {
      for (const { handle, looks } of handles) {
        if (!looks[at]) continue
        const { heap, lagP99Ms } = looks[at]
        handle.latest = { ...handle.latest, requests: handle.latest.requests + looks[at].requests, heap, lagP99Ms }
        handle.known.health.failures = looks[at].failures
        handle.heardAt = now() - looks[at].silentMs
        if (looks[at].requested) handle.condemnation.request(looks[at].requested)
      }
      await sampler.look()
    }

    const lines = journal.map(text => JSON.parse(text))
    const made = decided(lines)
    condemned += made.length
    t.strictSame(replay(lines), made)
    for (const { handle } of handles) {
      const cause = firstCause(lines.filter(line => line.pid === handle.pid))
      t.strictSame(made.filter(d => d.pid === handle.pid), cause ? [{ pid: handle.pid, ...cause }] : [])
    }
  }), { numRuns: extent({ short: 75, long: 150 }) })
  t.ok(condemned > 50, `${condemned} workers were condemned`)
})
