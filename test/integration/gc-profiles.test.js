'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

const MIB = 1024 ** 2

/** @param {any} t @param {string} path @param {Record<string, any>} options */
async function startGarbage (t, path, options) {
  const fleet = await startFleet(t, 'garbage.js', { workers: 1, interval: '50ms', samples: 1, jitter: 0, ...options })
  const { limitBytes, execArgv } = JSON.parse((await get(fleet.port, '/heap')).body)
  const load = new Load({ port: fleet.port, connections: 4, path, thinkMs: 0 })
  t.teardown(() => load.stop())
  return { ...fleet, load, execArgv, limitMiB: limitBytes / MIB }
}

/**
 * The last figures of the worker that was condemned for its memory.
 *
 * @param {import('../support/fleet').Events} events
 */
async function condemned (events) {
  const condemn = await events.until('worker.condemn', { where: ({ reason }) => /^(hard-)?rss$/.test(reason) })
  const before = events.lines.slice(0, events.lines.indexOf(condemn))
  return /** @type {any} */ (before.findLast(({ event, pid }) => event === 'worker.sample' && pid === condemn.pid)).gc
}

t.test('by default, old garbage is collected by mark-sweeps', async t => {
  const { events, supervisor } = await startGarbage(t, '/old', {})
  const { gc, loopLagMs } = await events.until('worker.sample', { where: ({ gc }) => gc.markSweeps.count > 1 })
  t.ok(gc.markSweeps.totalMs > 0)
  t.ok(gc.scavenges.count > 0 && gc.scavenges.totalMs > 0)
  t.type(loopLagMs, 'number')
  t.match(supervisor.status().workers[0], {
    gc: { scavenges: { count: Number, totalMs: Number, longestMs: Number }, markSweeps: { count: Number } },
    loopLagMs: Number
  })
})

t.test('huge-heap: the worker reaches its budget and is replaced before its first mark-sweep', async t => {
  const journal = path.join(t.testdir(), 'journal.ndjson')
  const { supervisor, events, load, limitMiB, execArgv } = await startGarbage(t, '/old', { gc: 'huge-heap', maxRss: '192MiB', journal })
  t.equal(limitMiB, 768 + 3 * 16, 'V8 counts three semi-spaces')
  t.ok(execArgv.includes('--initial-old-space-size=384'))

  const { markSweeps, scavenges } = await condemned(events)
  t.equal(markSweeps.count, 0, `in ${markSweeps.totalMs} ms`)
  t.ok(scavenges.count > 0, 'it has collected the young garbage')
  t.same((await load.stop()).failures, [])
  t.match(await events.until('recycled'), { cut: 0 })

  await supervisor.stop()
  const [start] = fs.readFileSync(journal, 'utf8').split('\n', 1).map(line => JSON.parse(line))
  t.same(start.execArgv, execArgv, 'the journal names the flags')
})

t.test('no-mark-sweep: the new space grows to the budget, and no object is promoted', async t => {
  const { events, load, limitMiB } = await startGarbage(t, '/young', { gc: 'no-mark-sweep', maxRss: '128MiB' })
  t.equal(limitMiB, 100 + 3 * 64)
  const { markSweeps } = await condemned(events)
  t.equal(markSweeps.count, 0)
  t.same((await load.stop()).failures, [])
  t.match(await events.until('recycled'), { cut: 0 })
})

t.test("the user's own flags come after the profile's, and win", async t => {
  const { limitMiB } = await startGarbage(t, '/young', { gc: 'no-mark-sweep', maxRss: '182MiB', nodeOption: ['--max-semi-space-size=32', '--max-old-space-size=300'] })
  t.equal(limitMiB, 300 + 3 * 32)
})
