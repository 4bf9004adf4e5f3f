'use strict'

const path = require('node:path')
const t = require('tap')
const { controlRoom } = require('../support/control')
const { becomesTrue } = require('../support/processes')
const { startFleet, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { replayScaling, scaled } = require('../support/replay-scaling')
const { unplanned } = require('../support/replay-plan')
const { startUpgradable } = require('../support/upgrade')

t.test('a fleet grows with its load and reloads meanwhile, is pinned and given back, and no client notices', async t => {
  const { port, supervisor, events } = await startFleet(t, 'blocks.js', { workers: '2..4', maxSurge: 1 })
  t.match(supervisor.status(), { totals: { workers: 2 }, autoscale: { min: 2, max: 4, isPinned: false } })
  const load = new Load({ port, connections: 16, thinkMs: 0 })

  // At once, unless the clients cannot keep two workers busy for all of the time.
  t.match(await events.until('fleet.scale', { where: ({ to }) => to === 4 }), { reason: 'busy', slots: [0, 1, 2, 3] })
  t.ok(events.all('fleet.scale').every(({ from, busy, requestsPerSecond }) => busy > 0.8 * from && requestsPerSecond > 0))
  await supervisor.reload()
  await everyWorkerServes(supervisor, 4)

  await supervisor.scale(5)
  t.match(supervisor.status(), { totals: { workers: 5 }, autoscale: { isPinned: true } })
  await everyWorkerServes(supervisor, 5)
  const [least] = [...supervisor.status().workers].sort((a, b) => a.elu - b.elu)
  t.ok(least.connections > 0, 'its connections have to move')

  await supervisor.scale('auto')
  const within = await events.until('fleet.scale', { where: line => line.reason === 'bounds' })
  t.match(within, { from: 5, to: 4 })
  t.ok(within.slots.includes(0), 'the first slot stays')
  await events.until('scaled')
  await load.after(50)
  const { failures, sockets } = await load.stop()
  t.same(failures, [])
  t.equal(sockets, 16, 'and no client has opened another connection')
  t.match(events.all('fleet.unpin'), [{ workers: 5, min: 2, max: 4 }])
  t.match(events.all('scaled'), [{ cut: 0, unaccounted: 0 }])

  const lines = JSON.parse(JSON.stringify(events.lines))
  t.strictSame(replayScaling(lines), scaled(lines), 'the journal gives every decision again')
  t.ok(scaled(lines).length >= 2)
  t.same(unplanned(lines), [], 'and every step')
})

/** By its heartbeats. @param {any} supervisor @param {number} count */
async function everyWorkerServes (supervisor, count) {
  const workers = () => supervisor.status().workers.map(
    (/** @type {any} */ { slot, state, connections, requests }) => ({ slot, state, connections, requests })
  )
  const isSo = await becomesTrue(() => workers().filter((/** @type {any} */ { state, connections, requests }) => state === 'ready' && connections > 0 && requests > 0).length === count, 30_000)
  if (!isSo) throw new Error(`${count} workers do not serve: ${JSON.stringify(workers())}`)
}

t.test('a pinned number outlives an upgrade, and a fleet of a fixed size takes no auto', async t => {
  const room = controlRoom(t)
  const recycle = (/** @type {string[]} */ ...args) => room.recycle([...args, '--name', 'shop'])
  await startUpgradable(t, ['--workers', '1..3', '--name', 'shop', path.join(FIXTURES, 'plain.js')], { env: room.env, workers: 1 })
  t.match(await recycle('scale', '2'), { code: 0, stdout: 'shop has 2 workers, 1 before; recycle scale auto: by the load again\n' })
  t.match(await recycle('upgrade'), { code: 0 })
  t.match((await recycle('status')).stdout, /^2 of 2 workers ready \(pinned, else 1 to 3/m)
  t.match(await recycle('scale', 'auto'), { code: 0, stdout: 'shop has 2 workers, and 1 to 3 by the load\n' })
  t.match((await recycle('status')).stdout, /^2 of 2 workers ready \(1 to 3/m)
  t.match(await recycle('stop'), { code: 0 })

  const { supervisor } = await startFleet(t, 'plain.js', { workers: 1 })
  t.equal(supervisor.status().autoscale, null)
  await t.rejects(supervisor.scale('auto'), { code: 'RECYCLE_BAD_OPTION', message: 'workers was given "auto"; it takes a whole number from 1 to 1024; auto only where the fleet was started with --workers <min>..<max>' })
})
