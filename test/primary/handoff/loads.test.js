'use strict'

const t = require('tap')
const { Loads } = require('../../../lib/primary/handoff/loads')
const { now } = require('../../../lib/primary/clock')

/** A worker that is up for long. @param {number} elu @returns {any} */
const worker = elu => ({ latest: { elu }, heardAt: Infinity, upSince: now() - 60_000 })

/** @param {any} handle @param {number} elu */
const beat = (handle, elu) => { handle.latest = { elu } }

t.test('a worker is known after two beats, of which the first tells of the time before', async t => {
  const loads = new Loads()
  const handle = worker(0.2)
  const seen = []
  for (const elu of [0.2, 1, 0.5, 0.7]) {
    beat(handle, elu)
    loads.look([handle], false)
    loads.look([handle], false) // without a new beat nothing changes
    seen.push([loads.isKnown(handle), Math.round(100 * loads.of(handle)) / 100])
  }
  t.same(seen, [[false, 0.2], [false, 1], [true, 0.5], [true, 0.6]])
})

t.test('after moves a worker is unknown again until beats tell of the time after them', async t => {
  const loads = new Loads()
  const handle = worker(0.9)
  for (const isMoving of [false, false, false, true, false, false]) {
    beat(handle, isMoving ? 0.5 : 0.9)
    loads.look([handle], isMoving)
  }
  t.ok(loads.isKnown(handle))
  loads.look([handle], true)
  t.notOk(loads.isKnown(handle))
})

t.test('later beats count for a quarter: a worker that changes is known as it is within seconds', async t => {
  const loads = new Loads()
  const handle = worker(0)
  for (let i = 0; i < 20; i++) {
    beat(handle, i < 10 ? 0 : 1)
    loads.look([handle], false)
  }
  t.ok(loads.of(handle) > 0.9 && loads.of(handle) < 1, `${loads.of(handle)}`)
})

t.test('what a worker was given counts at once, and less and less until its beats tell of it', async t => {
  const loads = new Loads()
  const handle = worker(0.1)
  loads.look([handle], false)
  loads.give(handle, 0.2)
  loads.give(handle, 0.3)
  t.ok(loads.of(handle) > 0.5 && loads.of(handle) <= 0.6, `${loads.of(handle)}`)
  await new Promise(resolve => setTimeout(resolve, 1050))
  t.equal(loads.of(handle), 0.1)
})

t.test('of a fleet are known its CPU and its requests a second by the last two heartbeats of each worker, the longest delay, its connections, and whether each can move', async t => {
  const loads = new Loads()
  const [first, second, booting] = [worker(0.25), worker(0.5), { ...worker(0.9), upSince: now() }]
  const handles = [first, second, booting]
  for (const at of [0, 500, 1000]) {
    handles.forEach((handle, i) => Object.assign(handle, {
      heardAt: now() + at,
      generation: 0,
      latest: {
        elu: 0.5,
        flexible: true,
        requests: at * (i + 1),
        cpuUs: 400 * at,
        loopLagMs: 10 - i,
        connections: 3
      }
    }))
    loads.look(handles, false)
    loads.look(handles, false)
  }
  const { cpus, rate, lagMs, connections, isFlexible } = loads.ofFleet(handles)
  t.same([Math.round(100 * cpus), Math.round(rate), lagMs, connections, isFlexible], [80, 3000, 10, 9, true], 'the CPU of a boot says nothing')
  second.latest.flexible = false
  t.notOk(loads.ofFleet(handles).isFlexible)
  t.notOk(loads.ofFleet([first, { ...booting, generation: 1 }]).isFlexible, 'they run different code')
  second.heardAt = now() - 2000
  t.equal(loads.ofFleet(handles).lagMs, Infinity, 'a worker that is silent is late')
  t.same(loads.ofFleet([]), { cpus: 0, rate: 0, lagMs: 0, connections: 0, isFlexible: true })
})

t.test('a silent worker is busy; while one boots its beats say nothing; one of another primary has none', async t => {
  const loads = new Loads()
  const silent = { ...worker(0), heardAt: now() - 2000 }
  t.same([loads.of(silent), loads.isKnown(silent)], [1, true])
  t.equal(loads.of({ ...worker(0.9), upSince: now() }), 0)
  t.equal(loads.of(/** @type {any} */ ({})), 0)
})
