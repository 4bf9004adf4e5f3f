'use strict'

const { mock } = require('node:test')
const t = require('tap')
const { Balancer } = require('../../../lib/primary/handoff/balancer')
const { Warnings } = require('../../../lib/primary/warnings')
const { Loads } = require('../../../lib/primary/handoff/loads')
const { Heard } = require('../../support/heard')

const LOOK_MS = 250

/** A worker as the balancer sees it. */
class Worker extends Heard {
  generation = 0
  heardAt = 0
  upSince = 0
  latest = {
    requests: 0,
    connections: 10,
    lasting: 10,
    streams: 0,
    elu: 0,
    cpuUs: 0,
    movable: 0,
    loopLagMs: 1,
    inspectorPort: null,
    flexible: true,
    ceiling: null
  }

  /** @type {any[]} */
  gifts = []
  /** Connections up to which it accepts, as it was told last. @type {number | null} */
  limit = null

  /** @param {string} type @param {any} fields */
  order (type, fields) {
    if (type === 'share') this.gifts.push(fields)
    else if (type === 'acceptLimit') this.limit = fields.limit
  }

  /**
   * @param {number} at
   * @param {{ elu: number, requests: number, loopLagMs?: number }} figures of the half second since the last one
   */
  beat (at, { elu, requests, loopLagMs = 1 }) {
    this.heardAt = at
    this.latest = {
      ...this.latest,
      elu,
      movable: elu,
      loopLagMs,
      cpuUs: this.latest.cpuUs + 500_000 * elu,
      requests: this.latest.requests + requests
    }
  }
}

/** A balancer of so many workers on two CPUs, whose time passes as it is told. @param {any} t @param {number} count */
function fleetOf (t, count) {
  let at = 100_000
  mock.timers.enable({ apis: ['setTimeout'] })
  mock.method(performance, 'now', () => at)
  const end = () => {
    balancer.stop()
    mock.restoreAll()
    mock.timers.reset()
  }
  t.teardown(end)
  const workers = Array.from({ length: count }, () => new Worker())
  const fleet = { serving: () => workers, rollout: { requested: () => null } }
  const ledger = { totals: { moved: 0 }, loads: new Loads() }
  const balancer = new Balancer(/** @type {any} */ ({ options: { schedule: 'even', handoff: true, sizing: { cpus: 2 } }, fleet, record: () => {}, warnings: new Warnings(() => /** @type {any} */ ({})), ledger }))
  for (const worker of workers) balancer.connect(/** @type {any} */ (worker))
  /**
   * @param {number} seconds
   * @param {(worker: Worker, slot: number) => { elu: number, requests: number, loopLagMs?: number }} figures
   */
  const pass = (seconds, figures) => {
    for (let step = 0; step < 1000 * seconds / LOOK_MS; step++) {
      at += LOOK_MS
      if (step % 2 === 0) workers.forEach((worker, slot) => worker.beat(at, figures(worker, slot)))
      mock.timers.tick(LOOK_MS)
    }
  }
  const resting = () =>
    workers.flatMap((worker, slot) => ledger.loads.resting.has(/** @type {any} */ (worker)) ? [slot] : [])
  return { workers, fleet, pass, resting, end }
}

t.test('where requests are short the load goes to as many workers as there are CPUs, and comes back when they are long', async t => {
  const { workers, pass, resting } = fleetOf(t, 5)
  pass(4, () => ({ elu: 0.25, requests: 4000 }))
  t.same(resting(), [])
  pass(4, (_, slot) => ({ elu: slot === 3 ? 0.26 : 0.25, requests: 4000 }))
  t.same(resting(), [1, 2, 4])
  t.same([1, 2, 4].map(slot => workers[slot].limit), [0, 0, 0], 'they leave new connections to the others')
  t.same(workers.map(({ gifts }) =>
    gifts.length > 0 && gifts[0].load > 0.2 && gifts[0].load === gifts[0].most), [false, true, true, false, true])
  for (const worker of workers) worker.gifts = []
  pass(2, (_, slot) => [0, 3].includes(slot) ? { elu: 0.55, requests: 10_000 } : { elu: 0, requests: 0 })
  t.same(workers.map(({ gifts }) => gifts.length), [0, 0, 0, 0, 0], 'what rests has nothing to give')
  pass(3, (_, slot) => [0, 3].includes(slot) ? { elu: 0.9, requests: 300 } : { elu: 0, requests: 0 })
  t.same(resting(), [])
  t.ok([1, 2, 4].every(slot => Number(workers[slot].limit) > 0))
  t.ok(workers[0].gifts[0].load > 0.4 && workers[3].gifts[0].load > 0.4)
})

t.test('no worker rests while workers run different code, as those of a trial do, nor where a connection cannot move; after that for a minute none', async t => {
  const unfit = /** @type {((worker: Worker) => void)[]} */ ([
    worker => { worker.generation = 1 }, worker => { worker.latest.flexible = false }
  ])
  for (const make of unfit) {
    const { workers, pass, resting, end } = fleetOf(t, 3)
    pass(8, () => ({ elu: 0.25, requests: 4000 }))
    t.same(resting(), [2])
    make(workers[2])
    pass(0.5, () => ({ elu: 0.25, requests: 4000 }))
    t.same(resting(), [])
    t.ok(Number(workers[2].limit) > 0, 'it accepts again')
    Object.assign(workers[2], { generation: 0, latest: { ...workers[2].latest, flexible: true } })
    pass(50, () => ({ elu: 0.25, requests: 4000 }))
    t.same(resting(), [])
    pass(15, () => ({ elu: 0.25, requests: 4000 }))
    t.same(resting(), [2])
    end()
  }
})

t.test('where a worker dies that does the load, another one does it at once', async t => {
  const { workers, pass, resting } = fleetOf(t, 3)
  pass(8, () => ({ elu: 0.25, requests: 4000 }))
  t.same(resting(), [2])
  const [dead] = workers.splice(0, 1)
  dead.emit('exit')
  t.same(resting(), [])
  t.ok(Number(workers[1].limit) > 0)
})

t.test('two workers on two CPUs never rest', async t => {
  const { pass, resting } = fleetOf(t, 2)
  pass(10, () => ({ elu: 0.5, requests: 8000 }))
  t.same(resting(), [])
})

t.test('a worker whose event loop is late for longer than a collection takes has the load spread', async t => {
  const { pass, resting } = fleetOf(t, 3)
  pass(8, () => ({ elu: 0.25, requests: 4000 }))
  pass(0.5, (_, slot) => ({ elu: 0.25, requests: 4000, loopLagMs: slot === 0 ? 50 : 1 }))
  pass(2, () => ({ elu: 0.25, requests: 4000 }))
  t.same(resting(), [2])
  pass(2, (_, slot) => ({ elu: 0.25, requests: 4000, loopLagMs: slot === 0 ? 50 : 1 }))
  t.same(resting(), [])
})

t.test('connections of the app\'s own protocol are given away, some at a time, but in a rollout, in which they go with their worker', async t => {
  const { workers, fleet, pass } = fleetOf(t, 2)
  workers[0].latest.lasting = 30
  pass(1, () => ({ elu: 0.1, requests: 10 }))
  t.match(workers[0].gifts, [{ count: 10, streams: 10 }])
  fleet.rollout.requested = () => /** @type {any} */ ('reload')
  workers[0].gifts = []
  pass(1, () => ({ elu: 0.1, requests: 10 }))
  t.match(workers[0].gifts, [{ count: 10, streams: 0 }])
})
