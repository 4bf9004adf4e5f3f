'use strict'

const t = require('tap')
const { resolveOptions } = require('../../../lib/tables/resolved-options')
const { Sizing } = require('../../../lib/features/elastic/primary')
const { Warnings } = require('../../../lib/primary/warnings')

const MIB = 1024 ** 2

/** @param {string} workers @param {{ parallelism: number, megabytes?: number }} machine */
function start (workers, { parallelism, megabytes }) {
  const options = resolveOptions({ workers }, { parallelism, container: megabytes === undefined ? null : { limitBytes: megabytes * MIB, source: 'cgroup v2', quotaCpus: null } })
  /** @type {any[]} */
  const recorded = []
  const kernel = {
    options,
    fleet: {},
    now: () => 0,
    record: (/** @type {string} */ event, /** @type {any} */ fields) => recorded.push({ event, ...fields })
  }
  const ended = new AbortController()
  const warnings = new Warnings(/** @type {any} */ (kernel.record))
  new Sizing(/** @type {any} */ ({ ...kernel, warnings })).begin?.(ended.signal)
  ended.abort()
  return { bounds: options.autoscale, recorded }
}

t.test('at most 2×CPU+1 workers, and no more than the memory is enough for, unless the least is more', async t => {
  const bounds = (/** @type {string} */ workers, machine = { parallelism: 4 }) => start(workers, machine).bounds
  t.same(bounds('1..4'), { min: 1, max: 4, asked: 4 })
  t.same(bounds('1..auto'), { min: 1, max: 9, asked: 9 })
  t.same(bounds('12..auto'), { min: 12, max: 12, asked: 12 })
  t.same(bounds('1..20'), { min: 1, max: 9, asked: 20 })
  const five = { parallelism: 4, megabytes: Math.ceil((6 * 64 + 80) / 0.9) }
  t.same(bounds('1..auto', five), { min: 1, max: 5, asked: 9 })
  t.same(bounds('6..8', five), { min: 6, max: 6, asked: 8 })
})

t.test('bounds that are lower than those asked for are said, with what lowered them', async t => {
  const warned = (/** @type {string} */ workers, /** @type {any} */ machine) => start(workers, machine).recorded
  t.same(warned('1..5', { parallelism: 2 }), [])
  t.same(warned('1..8', { parallelism: 2 }), [{ event: 'fleet.warning', warning: 'autoscale-bounds', min: 1, max: 5, asked: 8, by: 'cpus', cpus: 2, limitBytes: null, source: null }])
  t.same(warned('1..8', { parallelism: 4, megabytes: 512 }), [
    { event: 'fleet.warning', warning: 'autoscale-bounds', min: 1, max: 4, asked: 8, by: 'memory', cpus: 4, limitBytes: 512 * MIB, source: 'cgroup v2' }
  ])
  t.match(warned('1..8', { parallelism: 2, megabytes: 512 * 1024 }), [{ by: 'cpus' }])
  const five = Math.ceil((6 * 64 + 80) / 0.9)
  t.match(warned('1..8', { parallelism: 2, megabytes: five }), [{ max: 5, by: 'cpus' }], 'there is memory for all that the CPUs are enough for')
})

t.test('a worker that is out of rotation has no time: the others are not taken for half idle', async t => {
  const worker = (/** @type {any} */ out, /** @type {number} */ elu) =>
    ({ out, latest: { elu, requests: 0 }, heardAt: 0, connections: 0, bootMs: 100 })
  const workers = [worker(null, 0.97), worker({ since: 0, why: 'warms up' }, 0)]
  const ended = new AbortController()
  const alive = setTimeout(() => {}, 10_000) // its own timer holds no process
  const load = await new Promise(resolve => {
    const kernel = {
      options: resolveOptions({ workers: '2..4' }, { parallelism: 4, container: null }),
      fleet: { desired: 2, isPinned: false, all: () => workers, serving: () => workers },
      memoryWatch: { latest: null },
      tenure: { hasBegun: true, isOver: false },
      now: () => 1000,
      record: (/** @type {string} */ _, /** @type {any} */ fields) => resolve(fields)
    }
    new Sizing(/** @type {any} */ (kernel)).begin?.(ended.signal)
  })
  clearTimeout(alive)
  ended.abort()
  t.match(load, { workers: 2, serving: 2, busy: 1.97 })
})
