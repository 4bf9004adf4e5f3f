'use strict'

const { EventEmitter } = require('node:events')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { HealthChecks } = require('../../../lib/features/health/primary')
const { Warnings } = require('../../../lib/primary/warnings')

t.test('probes that cannot be made are told once, and again when they have been possible in between', async t => {
  /** @type {any[]} */
  const lines = []
  let why = 'EMFILE'
  let attempts = 0
  const open = async () => {
    attempts++
    if (why) throw new Error(why)
    return { near: Object.assign(new EventEmitter(), { destroy () {} }), far: { close () {} } }
  }
  const options = /** @type {any} */ ({ health: '/', healthPeriodMs: 1, healthTimeoutMs: 1000, healthFailureThreshold: 3, healthInitialDelayMs: 0 })
  /** @type {any} */
  const record = (/** @type {string} */ event, /** @type {any} */ fields) => lines.push({ event, ...fields })
  const kernel = { options, now: () => performance.now(), record, warnings: new Warnings(record) }
  const checks = new HealthChecks(/** @type {any} */ (kernel), /** @type {any} */ (open))
  /** @type {any[]} */
  const judged = []
  const worker = /** @type {any} */ (Object.assign(new EventEmitter(), { state: 'ready', latest: {}, known: {}, isDebugged: async () => false, readiness: { judge: (/** @type {string} */ gate, /** @type {string} */ why) => judged.push({ gate, why }) } }))
  worker.call = async () => ({ why: 'it is busy', isSkipped: true })
  checks.connect(worker)
  worker.emit('booted')
  t.same(judged, [{ gate: 'health', why: 'GET / has not been answered yet' }], 'until the first probe')
  const until = async (/** @type {number} */ count) => {
    const before = attempts
    while (attempts < before + count) await setTimeout(1) // eslint-disable-line no-unmodified-loop-condition
  }
  await until(3)
  t.same(lines, [{ event: 'fleet.warning', warning: 'health', why: 'EMFILE' }])
  why = ''
  await until(3)
  why = 'ENFILE'
  await until(3)
  worker.emit('exit')
  t.same(lines.slice(1), [{ event: 'fleet.warning', warning: 'health', why: 'ENFILE' }])
  t.same(worker.known.health, { failures: 0, why: null, isPassed: false })
})
