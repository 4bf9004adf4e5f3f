'use strict'

/**
 * A worker accepts nothing before it is ready, whatever makes it ready; its app listens from its first moment on, and
 * answers 503 until then.
 */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

const HEALTH = { health: '/healthz', healthPeriod: '100ms' }

/**
 * Keep-alive clients, and clients that open a connection for each request.
 *
 * @param {any} t @param {number} port @param {string} [path]
 */
function startLoads (t, port, path) {
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 4, keepAlive, path }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  return loads
}

/** @param {any} t @param {Load[]} loads */
async function noneFailed (t, loads) {
  for (const load of loads) {
    const { requests, failures } = await load.stop()
    t.same(tallyOf(failures), [], `of ${requests} requests`)
    t.ok(requests > 30)
  }
}

/** @param {{ error: string }[]} failures @returns {[string, number][]} how many of each kind */
function tallyOf (failures) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const { error } of failures) counts.set(error, 1 + (counts.get(error) ?? 0))
  return [...counts]
}

for (const [what, options] of /** @type {[string, Record<string, any>][]} */ ([
  ['says so', { readyOn: 'message' }],
  ['passes a probe', HEALTH],
  ['is forked from a mold, and says so', { readyOn: 'message', fork: 'mold', warm: 0 }]
])) {
  t.test(`a worker that ${what} serves from then on: in a reload, after a crash, at a scale-up`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'not-yet.js', { ...options, workers: 1 })
    const loads = startLoads(t, port)
    await supervisor.reload()
    process.kill(supervisor.status().workers[0].pid, 'SIGKILL')
    await events.until('worker.ready', { count: 3 })
    await supervisor.scale(2)
    for (const load of loads) await load.after(40)
    const failures = (await Promise.all(loads.map(load => load.stop()))).flatMap(load => load.failures)
    // What the killed worker had in flight is lost with it, or answered in its place.
    t.same(tallyOf(failures.filter(({ error }) => !['ECONNRESET', 'EPIPE', 'status 502'].includes(error))), [])
  })
}

t.test('clients that come before the first worker is ready wait in the queue', async t => {
  delete process.env.PORT
  const starting = startFleet(t, 'not-yet.js', { readyOn: 'message', workers: 1 })
  /** @type {any} */
  let answer
  do await new Promise(resolve => setTimeout(resolve, 5))
  while (!process.env.PORT || !(answer = await get(Number(process.env.PORT))).status) // refused before it listens
  t.match(answer, { status: 200 })
  const { events } = await starting
  t.match(events.all('worker.ready'), [{ slot: 0 }])
})

t.test('workers of bad code, which never get ready, answer no client; each is given up, and has not crashed', async t => {
  const file = path.join(t.testdir(), 'release')
  fs.writeFileSync(file, 'good')
  process.env.RELEASE = file
  t.teardown(() => { delete process.env.RELEASE })
  const { port, supervisor, events } = await startFleet(t, 'not-yet.js', { ...HEALTH, readyTimeout: '4s' })
  const pids = supervisor.status().workers.map(({ pid }) => pid)
  const from = events.lines.length // on a busy machine a worker of the start may have been late, too
  const since = (/** @type {string} */ event) => events.lines.slice(from).filter(line => line.event === event)
  const loads = startLoads(t, port, '/slow')
  fs.writeFileSync(file, 'bad')
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED' })
  await noneFailed(t, loads)
  t.equal(since('worker.not-ready').length, 3)
  t.match(since('worker.retire').map(({ pid }) => pid).filter(pid => !pids.includes(pid)), { length: 3 })
  t.same(events.all('worker.crash'), [])
  t.match(since('stopped'), since('worker.drain').map(({ pid }) => ({ oldPid: pid, reason: 'not-ready', cut: 0, lost: false, ended: 'retired' })), 'each has its account')
  t.same(supervisor.status().workers.map(({ pid }) => pid), pids)
})
