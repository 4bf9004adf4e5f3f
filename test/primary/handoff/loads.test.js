'use strict'

const t = require('tap')
const { Loads } = require('../../../lib/primary/handoff/loads')

const NOW = 100_000 // of the primary's clock

/** A worker that is up for long. @param {number} elu @returns {any} */
const worker = elu => ({ latest: { elu }, heardAt: Infinity, upSince: NOW - 60_000 })

/** @param {any} handle @param {number} elu */
const beat = (handle, elu) => { handle.latest = { elu } }

t.test('a worker is known after two beats, of which the first tells of the time before', async t => {
  const loads = new Loads()
  const handle = worker(0.2)
  const seen = []
  for (const elu of [0.2, 1, 0.5, 0.7]) {
    beat(handle, elu)
    loads.look([handle], false, NOW)
    loads.look([handle], false, NOW) // without a new beat nothing changes
    seen.push([loads.isKnown(handle, NOW), Math.round(100 * loads.of(handle, NOW)) / 100])
  }
  t.same(seen, [[false, 0.2], [false, 1], [true, 0.5], [true, 0.6]])
})

t.test('after moves a worker is unknown again until beats tell of the time after them', async t => {
  const loads = new Loads()
  const handle = worker(0.9)
  for (const isMoving of [false, false, false, true, false, false]) {
    beat(handle, isMoving ? 0.5 : 0.9)
    loads.look([handle], isMoving, NOW)
  }
  t.ok(loads.isKnown(handle, NOW))
  loads.look([handle], true, NOW)
  t.notOk(loads.isKnown(handle, NOW))
})

t.test('later beats count for a quarter: a worker that changes is known as it is within seconds', async t => {
  const loads = new Loads()
  const handle = worker(0)
  for (let i = 0; i < 20; i++) {
    beat(handle, i < 10 ? 0 : 1)
    loads.look([handle], false, NOW)
  }
  t.ok(loads.of(handle, NOW) > 0.9 && loads.of(handle, NOW) < 1, `${loads.of(handle, NOW)}`)
})

t.test('what a worker was given counts at once, and less and less until its beats tell of it', async t => {
  const loads = new Loads()
  const handle = worker(0.1)
  loads.look([handle], false, NOW)
  loads.give(handle, 0.2, NOW)
  loads.give(handle, 0.3, NOW)
  const seen = [0, 250, 500, 1000, 1050].map(ms => Math.round(1000 * loads.of(handle, NOW + ms)) / 1000)
  t.same(seen, [0.6, 0.475, 0.35, 0.1, 0.1])
})

t.test('of a fleet are known its CPU and its requests a second by the last two heartbeats of each worker, the longest delay, its connections, and whether each can move', async t => {
  const loads = new Loads()
  const [first, second, booting] = [worker(0.25), worker(0.5), { ...worker(0.9), upSince: NOW }]
  const handles = [first, second, booting]
  for (const at of [0, 500, 1000]) {
    handles.forEach((handle, i) => Object.assign(handle, {
      heardAt: NOW + at,
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
    loads.look(handles, false, NOW)
    loads.look(handles, false, NOW)
  }
  const { cpus, rate, lagMs, connections, isFlexible } = loads.ofFleet(handles, NOW)
  t.same([Math.round(100 * cpus), Math.round(rate), lagMs, connections, isFlexible], [80, 3000, 10, 9, true], 'the CPU of a boot says nothing')
  second.latest.flexible = false
  t.notOk(loads.ofFleet(handles, NOW).isFlexible)
  t.notOk(loads.ofFleet([first, { ...booting, generation: 1 }], NOW).isFlexible, 'they run different code')
  second.heardAt = NOW - 2000
  t.equal(loads.ofFleet(handles, NOW).lagMs, Infinity, 'a worker that is silent is late')
  t.same(loads.ofFleet([], NOW), { cpus: 0, rate: 0, lagMs: 0, connections: 0, isFlexible: true })
})

t.test('a silent worker is busy; while one boots its beats say nothing; one of another primary has none', async t => {
  const loads = new Loads()
  const silent = { ...worker(0), heardAt: NOW - 2000 }
  t.same([loads.of(silent, NOW), loads.isKnown(silent, NOW)], [1, true])
  t.equal(loads.of({ ...worker(0.9), upSince: NOW }, NOW), 0)
  t.equal(loads.of(/** @type {any} */ ({}), NOW), 0)
})
