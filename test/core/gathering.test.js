'use strict'

const t = require('tap')
const fc = require('fast-check')
const { Gathering, restingOf } = require('../../lib/core/gathering')

const SHORT = { cpus: 1.2, rate: 40_000, lagMs: 3, connections: 50, isFlexible: true } // 0.03 ms a request
const LONG = { cpus: 1.2, rate: 600, lagMs: 3, connections: 50, isFlexible: true }
const LATE = { ...SHORT, lagMs: 60 }
const MANY = { ...SHORT, connections: 5000 }
const FIXED = { ...SHORT, isFlexible: false }
const SILENT = { ...SHORT, lagMs: Infinity }
const IDLE = { cpus: 0.05, rate: 0, lagMs: 60, connections: 50, isFlexible: true }

/**
 * Looks each quarter of a second.
 *
 * @param {Gathering} gathering @param {number} from s @param {number} to s @param {typeof SHORT} fleet
 * @returns {number | null} when it changed, in s; null: it did not
 */
function look (gathering, from, to, fleet) {
  const before = gathering.isOn
  for (let at = from; at < to; at += 0.25) if (gathering.look(fleet, 2, 1000 * at) !== before) return at
  return null
}

t.test('load of short requests is gathered after five seconds, and spread at once where requests are long, an event loop is late for a second, there are many connections, or one cannot move', async t => {
  for (const [over, at] of /** @type {[typeof SHORT, number][]} */ ([
    [LONG, 10], [LATE, 11], [SILENT, 10], [MANY, 10], [FIXED, 10]
  ])) {
    const gathering = new Gathering()
    t.equal(look(gathering, 0, 10, SHORT), 5)
    t.equal(look(gathering, 10, 20, over), at)
  }
})

t.test('after that it is not gathered for a minute, and then after five seconds of short requests alone', async t => {
  const gathering = new Gathering()
  look(gathering, 0, 10, SHORT)
  look(gathering, 10, 11, LONG)
  t.equal(look(gathering, 11, 65, SHORT), null)
  t.equal(look(gathering, 65, 66, LONG), null)
  t.equal(look(gathering, 66, 90, SHORT), 71)
})

t.test('without load nothing is gathered, and nothing that an idle fleet does spreads it', async t => {
  const gathering = new Gathering()
  t.equal(look(gathering, 0, 20, IDLE), null)
  t.equal(look(gathering, 20, 40, SHORT), 25)
  t.equal(look(gathering, 40, 60, IDLE), null)
  t.ok(gathering.isOn)
  t.equal(look(gathering, 60, 61, { ...IDLE, lagMs: Infinity }), 60, 'but a worker that does not answer: new connections would wait for it')
})

t.test('the busiest workers do the load; those that rest go on resting, whatever the others do', async t => {
  const workers = [0.1, 0.9, 0.4, 0.2].map((busy, slot) => ({ slot, busy, isResting: false }))
  const resting = restingOf(workers, 2)
  t.same(resting.map(({ slot }) => slot), [3, 0])
  const later = workers.map(worker => ({ ...worker, busy: 1 - worker.busy, isResting: resting.includes(worker) }))
  t.same(restingOf(later, 2).map(({ slot }) => slot), [0, 3])
  t.same(restingOf(later.filter(({ slot }) => slot !== 1), 2).map(({ slot }) => slot), [3], 'where one that does load has left, one of those that rest takes its place')
})

t.test('of any workers as many are awake as are to be', async t => {
  const worker = fc.record({ busy: fc.double({ min: 0, max: 2, noNaN: true }), isResting: fc.boolean() })
  fc.assert(fc.property(fc.array(worker, { maxLength: 12 }), fc.integer({ min: 1, max: 8 }), (workers, awake) => {
    const resting = restingOf(workers, awake)
    const others = workers.filter(one => !resting.includes(one))
    return others.length === Math.min(awake, workers.length) &&
      resting.every(({ isResting, busy }) => isResting || others.every(other => !other.isResting && other.busy >= busy))
  }))
})
