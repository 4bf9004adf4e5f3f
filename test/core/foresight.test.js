'use strict'

/**
 * The forecasts and the plan, replayed over recorded journals of fleets that did not foresee: four workers of one app
 * with the same budget and no jitter, sampled every 500 ms for 70 s, of which a replacement takes two or three to boot.
 *
 *     leak     every request leaves 24 KB
 *     noisy    and makes garbage beside it: the memory goes up and down by collections
 *     steady   makes garbage alone: the memory settles below the budget
 */

const path = require('node:path')
const t = require('tap')
const { readJournal } = require('../..')
const { pushReading, spreadCrossings, timeToCrossing } = require('../../lib/core/trend')
const { seeded } = require('../support/random')
const { unplanned } = require('../support/replay-plan')

/** @param {string} name @returns {Promise<Record<string, any>[]>} */
async function recorded (name) {
  const lines = []
  for await (const line of readJournal(path.join(__dirname, '..', 'fixtures', 'journals', `${name}.ndjson.gz`))) lines.push(line)
  return lines
}

/**
 * Of each worker that crossed: when its first sample over the budget was taken, and how long it took to boot.
 *
 * @param {Record<string, any>[]} lines
 */
function crossings (lines) {
  /** @type {Map<number, { pid: number, softBytes: number, bootMs: number, crossedAt: number | null }>} */
  const workers = new Map()
  for (const { event, pid, t, rssBytes, readyMs, budget } of lines) {
    const worker = workers.get(pid)
    if (event === 'worker.spawn') workers.set(pid, { pid, softBytes: budget.softBytes, bootMs: 0, crossedAt: null })
    else if (worker && event === 'worker.ready') worker.bootMs = readyMs
    else if (worker && event === 'worker.sample' && rssBytes > worker.softBytes) worker.crossedAt ??= t
  }
  return [...workers.values()].flatMap(({ crossedAt, ...worker }) =>
    crossedAt === null ? [] : [{ ...worker, crossedAt }])
}

/**
 * How long workers wait over their budgets for the recycles before theirs, one at a time.
 *
 * @param {{ pid: number, bootMs: number, crossedAt: number }[]} workers
 * @param {Map<number, number>} early when a worker's recycle is asked for, by pid; the others' when they cross
 */
function waitsMs (workers, early) {
  const asked = workers.map(
    worker => ({ ...worker, askedAt: Math.min(early.get(worker.pid) ?? Infinity, worker.crossedAt) })
  ).sort((a, b) => a.askedAt - b.askedAt)
  let freeAt = 0
  let total = 0
  for (const { askedAt, crossedAt, bootMs } of asked) {
    const beginsAt = Math.max(askedAt, freeAt)
    total += Math.max(0, beginsAt - crossedAt)
    freeAt = beginsAt + bootMs
  }
  return total
}

for (const name of ['leak', 'noisy']) {
  t.test(`${name}: a crossing is foretold, most often within 40 % of the time that is left`, async t => {
    const lines = await recorded(name)
    const crossedAt = new Map(crossings(lines).map(({ pid, softBytes, crossedAt }) => [pid, { softBytes, crossedAt }]))
    t.ok(crossedAt.size >= 15)
    /** @type {number[]} */
    const errors = []
    const trends = new Map()
    for (const { event, pid, t, ageMs, rssBytes } of lines) {
      const { softBytes, crossedAt: at } = crossedAt.get(pid) ?? { softBytes: null, crossedAt: 0 }
      if (event !== 'worker.sample' || t >= at) continue
      trends.set(pid, pushReading(trends.get(pid) ?? [], ageMs, rssBytes))
      const aheadMs = timeToCrossing(trends.get(pid), softBytes)
      // A crossing is seen at the sample after it
      if (aheadMs !== null) errors.push(Math.abs(aheadMs - (at - t)) / (at - t + 500))
    }
    t.ok(errors.length >= 80, `${errors.length} forecasts`)
    errors.sort((a, b) => a - b)
    const most = errors[Math.floor(errors.length * 0.75)]
    t.ok(most < 0.4, `three of four are off by no more than ${most}`)
  })

  t.test(`${name}: crossings that fell within one boot time are spread, and no worker goes earlier than all of them need`, async t => {
    const lines = await recorded(name)
    const workers = crossings(lines)
    /** @type {Map<number, number>} */
    const early = new Map()
    t.same(unplanned(lines, ({ pid, t }) => early.set(pid, t)), [], 'the recorded steps are those of the plan')
    const [before, after] = [waitsMs(workers, new Map()), waitsMs(workers, early)]
    t.ok(after < before / 2, `workers wait over budget for ${Math.round(after)} ms in place of ${before}`)
    const longest = Math.max(...workers.map(({ bootMs }) => bootMs))
    for (const { pid, crossedAt } of workers) t.ok(crossedAt - (early.get(pid) ?? crossedAt) <= 3 * longest)
  })
}

t.test('steady: nothing is condemned early', async t => {
  const lines = await recorded('steady')
  t.same(crossings(lines), [])
  const early = []
  t.same(unplanned(lines, worker => early.push(worker)), [])
  t.same(early, [])
})

/**
 * A fleet without processes for two hours: nine workers that leak alike, one recycle at a time, with jitter as by
 * default.
 *
 * @param {{ foresees: boolean, fillMs: number, bootMs: number }} how `fillMs`: from a worker's start until it is at its
 *   budget
 * @returns {{ overMs: number, recycles: number }} how long workers were over their budgets, all in all
 */
function simulate ({ foresees, fillMs, bootMs }) {
  const random = seeded(51) // the same in each run
  const start = (/** @type {number} */ readyAt) => ({
    readyAt,
    soft: 1 - 0.1 * random(),
    rate: (0.9 + 0.2 * random()) / fillMs,
    bytes: 0,
    trend: /** @type {any} */ ([]),
    isDue: false
  })
  const workers = Array.from({ length: 9 }, () => start(0))
  let [overMs, recycles, doneAt, replaced] = [0, 0, Infinity, 0]
  for (let now = 0; now < 7_200_000; now += 1000) {
    if (now >= doneAt) {
      workers[replaced] = start(now)
      recycles++
      doneAt = Infinity
    }
    for (const worker of workers) {
      worker.bytes = 0.3 + 0.7 * worker.rate * (now - worker.readyAt) + 0.01 * random()
      worker.trend = pushReading(worker.trend, now - worker.readyAt, worker.bytes)
      worker.isDue ||= worker.bytes > worker.soft
      if (worker.bytes > worker.soft) overMs += 1000
    }
    const crossings = workers.flatMap((worker, slot) => {
      const aheadMs = foresees && !worker.isDue && slot !== replaced ? timeToCrossing(worker.trend, worker.soft) : null
      return aheadMs === null ? [] : [{ slot, crossesAt: now + aheadMs }]
    })
    for (const { slot, beginAt } of spreadCrossings(crossings, { bootMs, atOnce: 1 })) {
      workers[slot].isDue ||= beginAt <= now
    }
    const due = workers.findIndex(({ isDue }, slot) => isDue && !(slot === replaced && doneAt < Infinity))
    if (doneAt === Infinity && due >= 0) [replaced, doneAt] = [due, now + bootMs]
  }
  return { overMs, recycles }
}

t.test('of an app that boots slowly, workers are over their budgets for less long, at the cost of few more recycles', async t => {
  const [without, with_] = [false, true].map(foresees => simulate({ foresees, fillMs: 600_000, bootMs: 20_000 }))
  t.ok(with_.overMs < 0.75 * without.overMs, `${with_.overMs} ms in place of ${without.overMs}`)
  t.ok(with_.recycles < 1.05 * without.recycles, `${with_.recycles} and not ${without.recycles}`)
})
