'use strict'

const t = require('tap')
const { clientProcesses, foresee, readLimits, OWN_DESCRIPTORS } = require('../../../examples/capacity/limits')

const LIMITS = { descriptors: 20_000, ports: 28_232, memoryBytes: 20e9, backlog: 4096 }
const MIB = 1024 ** 2

t.test('the limits of this machine are read', async t => {
  const { descriptors, ports, memoryBytes, backlog } = readLimits()
  for (const value of [descriptors, ports, memoryBytes, backlog]) t.ok(Number.isFinite(value) && value > 0)
})

t.test('clients are shared out evenly, over addresses of their own, within descriptors and ports', async t => {
  t.same(clientProcesses(101, LIMITS, 2), [{ address: '127.0.0.2', clients: 50 }, { address: '127.0.0.3', clients: 51 }])
  const many = clientProcesses(250_001, LIMITS, 2)
  t.equal(many.length, 13)
  t.equal(many.reduce((sum, { clients }) => sum + clients, 0), 250_001)
  t.ok(many.every(({ clients }) => clients + OWN_DESCRIPTORS <= 20_000))
  t.equal(clientProcesses(60_000, { ...LIMITS, descriptors: 1_000_000 }, 1).length, 3, 'ports are the limit')
})

t.test('what will give is the least of what the limits allow', async t => {
  const perClient = { baseHeapBytes: 5 * MIB, heapBytes: 4096, residentBytes: 20_000 }
  const cause = (/** @type {any} */ limits, /** @type {number} */ heapLimitBytes, more = {}) =>
    foresee({ ...LIMITS, ...limits }, { heapLimitBytes }, { ...perClient, ...more })[0]
  t.same(cause({}, 1024 * MIB), { cause: 'descriptors', clients: 20_000 - OWN_DESCRIPTORS })
  t.same(cause({}, 9 * MIB), { cause: 'heap', clients: 1024 })
  t.same(cause({ memoryBytes: 1e9 }, 1024 * MIB, { residentBytes: 130_000 }), { cause: 'memory', clients: 6923 })
})
