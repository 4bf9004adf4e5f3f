'use strict'

/**
 * The state machine of a fleet, explored to its end, and held beside a real fleet. `npm run test:model` lets two workers be recycled;
 * in the suite it is one.
 */

const t = require('tap')
const { TRANSITIONS } = require('../../lib/core/state')
const { extent } = require('../support/campaign')
const { explore } = require('../support/fleet-space')
const { startFleet } = require('../support/fleet')
const { firstSlots, transitionsSeen } = require('../support/fleet-model')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')
const { trace } = require('../support/trace')

const RECYCLES = extent({ short: 1, long: 2 }) // also how many slots of the real fleet
t.setTimeout(600_000)

for (const [name, limits] of Object.entries({
  'a surge of one': { standbys: 0, maxSurge: 1, maxUnavailable: 0 },
  'drain first': { standbys: 0, maxSurge: 0, maxUnavailable: 1 },
  'a surge of one, and one may be missing': { standbys: 0, maxSurge: 1, maxUnavailable: 1 },
  'a surge of two': { standbys: 0, maxSurge: 2, maxUnavailable: 0 },
  'a standby': { standbys: 1, maxSurge: 1, maxUnavailable: 0 }
})) {
  t.test(`every order of ${RECYCLES} recycle${RECYCLES > 1 ? 's' : ''}, boots and any one fault of three workers, with ${name}, keeps what the plan promises and converges`, async t => {
    const { states, ends, faults } = explore({ slots: firstSlots(3), generation: 0, ...limits }, { condemns: RECYCLES })
    t.same([...faults].sort(), ['crash', 'diesEarly', 'memory', 'overHard'])
    t.ok(states > 2000 && ends > 100, `${states} states, ${ends} ends`)
  })
}

t.test('so does every order of a fault and commands to two workers', async t => {
  const desired = { slots: firstSlots(2), generation: 0, standbys: 0, maxSurge: 1, maxUnavailable: 0 }
  const reload = { type: 'reload', pick: 0 }
  for (const [name, limits, commands] of /** @type {[string, any, any[]][]} */ ([
    ['a reload and fewer workers', {}, [reload, { type: 'scale', pick: 1 }]],
    ['a reload and more workers', {}, [reload, { type: 'scale', pick: 3 }]],
    ['a reload, with a standby', { standbys: 1 }, [reload]]
  ])) {
    const { states } = explore({ ...desired, ...limits }, { condemns: RECYCLES - 1, commands })
    t.ok(states > 500, `${name}: ${states} states`)
  }
})

t.test('these are all transitions that the table of states has', async t => {
  const all = Object.entries(TRANSITIONS).flatMap(([from, to]) => to.map(to => `${from} ${to}`))
  t.equal([...transitionsSeen].sort().join(), all.sort().join())
})

const skip = extent({ short: 'it takes 10 seconds: npm run test:model has it', long: false })

t.test('the model accepts the journal of a real fleet with crashes, recycles, a reload and scales, and refuses it where a line is missing or too many', { skip }, async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 3, interval: '50ms' })
  const load = new Load({ port, connections: 6, thinkMs: 5 })
  t.teardown(() => load.stop())
  const pidOf = (/** @type {number} */ slot) => supervisor.status().workers.find((/** @type {any} */ worker) => worker.slot === slot && worker.state === 'ready').pid
  for (let slot = 0; slot < RECYCLES; slot++) {
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
