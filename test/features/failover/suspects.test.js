'use strict'

const { performance } = require('node:perf_hooks')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { Suspects } = require('../../../lib/features/failover/suspects')

const LOOKS_MS = 100 // several looks

/** A worker, and a clock that is set. @param {any} t */
function scene (t) {
  const { now } = performance
  let time = 1000
  performance.now = () => time
  t.teardown(() => { performance.now = now })
  return {
    given: /** @type {string[]} */ ([]),
    worker: /** @type {any} */ ({ addresses: new Set(['key']), isGone: false }),
    at: async (/** @type {number} */ ms) => {
      time = 1000 + ms
      await delay(LOOKS_MS)
    }
  }
}

t.test('a suspect that has waited for some seconds goes on, though others have come since; without a worker none does', async t => {
  const { given, worker, at } = scene(t)
  let serving = [worker]
  const suspects = new Suspects(() => serving, () => true)
  const suspect = (/** @type {string} */ name, /** @type {number} */ ageMs) =>
    ({ socket: name, ageMs, key: 'key', give: () => { given.push(name) } })
  suspects.add([suspect('oldest', 5000), suspect('latest', 10)])
  t.same(given, ['latest'])
  await at(2000)
  t.same(given, ['latest', 'oldest'], 'the trial of the other one is over')
  suspects.add([suspect('a', 2000)])
  await at(3050)
  suspects.add([suspect('b', 10)])
  t.same(given, ['latest', 'oldest'], 'there is one worker')
  serving = []
  await at(4000)
  await at(7000)
  serving = [worker]
  suspects.add([suspect('c', 10)])
  await delay(LOOKS_MS)
  t.same(given.slice(2), ['b'], 'the time without a worker is not counted')
  await at(7100)
  suspects.add([suspect('d', 5)])
  await at(9050)
  t.same(given.slice(2), ['b', 'a'], 'before later ones')
  serving = /** @type {any} */ (null)
  await delay(LOOKS_MS)
  t.same(given.slice(4).sort(), ['c', 'd'], 'none waits as the fleet stops')
})

t.test('the time of a trial begins when the app has the request, within a second; what is answered ends it', async t => {
  const { given, worker, at } = scene(t)
  /** @type {boolean | null} */
  let isSeen = false
  const suspects = new Suspects(() => [worker], () => isSeen)
  const suspect = (/** @type {string} */ name) => ({ socket: name, ageMs: 10, key: 'key', give: () => { given.push(name) } })
  suspects.add(['a', 'b', 'c', 'd'].map(suspect))
  t.same(given, ['d'])
  suspects.kept('d', worker, { row: 0, serial: 1 })
  await at(800)
  t.same(given, ['d'], 'its worker is slow to read it')
  isSeen = true
  await at(905)
  t.same(given, ['d'])
  await at(915)
  t.same(given, ['d', 'c'], 'the app has had it for as long as the dead worker, and a bit')
  isSeen = false
  suspects.kept('c', worker, { row: 1, serial: 2 })
  await at(1920)
  t.same(given, ['d', 'c', 'b'], 'not waited for any longer')
  suspects.kept('b', worker, { row: 2, serial: 3 })
  isSeen = null
  await at(1930)
  t.same(given, ['d', 'c', 'b', 'a'], 'answered')
})
