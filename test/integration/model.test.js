'use strict'

/** The state machine of a fleet (test/core/model.test.js), held beside a real fleet. */

const t = require('tap')
const { longAlone } = require('../support/campaign')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')
const { trace } = require('../support/trace')

const SLOTS = 2 // that are recycled, of three
t.setTimeout(600_000)

const skip = longAlone('10', 'npm run test:model')

t.test('the model accepts the journal of a real fleet with crashes, recycles, a reload and scales, and refuses it where a line is missing or too many', { skip }, async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 3, interval: '50ms' })
  const load = new Load({ port, connections: 6, thinkMs: 5 })
  t.teardown(() => load.stop())
  const pidOf = (/** @type {number} */ slot) => supervisor.status().workers.find((/** @type {any} */ worker) => worker.slot === slot && worker.state === 'ready').pid
  for (let slot = 0; slot < SLOTS; slot++) {
    await supervisor.recycle(slot)
    process.kill(pidOf(slot), 'SIGKILL')
    await supervisor.ready()
    const recycled = supervisor.recycle(slot).catch(() => {})
    await events.until('worker.spawn', { count: events.all('worker.spawn').length + 1 })
    process.kill(events.all('worker.spawn').at(-1)?.pid, 'SIGKILL')
    await recycled
    await becomesTrue(() => supervisor.status().totals.ready === 3)
  }
  await supervisor.scale(1)
  await supervisor.scale(3)
  await supervisor.reload()
  await load.stop()
  await supervisor.stop()

  const { lines } = events
  const { steps, refused } = trace(lines)
  t.same(refused, [])
  t.ok(steps > 15, `${steps} steps`)
  const without = (/** @type {string} */ event) => {
    const at = lines.findLastIndex(line => line.event === event && line.reason !== 'stop')
    return trace(lines.filter((_, i) => i !== at)).refused.length
  }
  for (const event of ['worker.spawn', 'worker.drain', 'worker.condemn', 'worker.crash', 'fleet.scale']) t.ok(without(event) > 0, `without its last ${event}`)
  const twice = lines.flatMap(line => line === events.all('worker.spawn').at(-2) ? [line, { ...line, pid: 1 }] : [line])
  t.ok(trace(twice).refused.length > 0, 'with a process too many')
})
