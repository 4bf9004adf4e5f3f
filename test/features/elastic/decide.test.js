'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const fc = require('fast-check')
const { NO_HISTORY, decide: decideNow, pushLoad, leastLoaded } = require('../../../lib/features/elastic/decide')
const { extent } = require('../../support/campaign')
const { run, recycles, noise, table, LOADS, BOUNDS } = require('../../support/scaling-model')

/** @param {any[]} looks a second apart; each as [busy, more] @param {any} [bounds] */
function decide (looks, bounds = { min: 1, max: 9 }) {
  let history = NO_HISTORY
  /** @type {any[]} */
  const decisions = []
  looks.forEach(([busy, { workers = 2, serving = workers, bootMs = 500, fitting = null, atMs = 0 } = {}], second) => {
    history = pushLoad(
      history, { atMs: atMs || 1000 * second, workers, serving, busy, requestsPerSecond: 0, bootMs, fitting }
    )
    decisions.push(decideNow(history, bounds))
  })
  return decisions
}

/** @param {number} seconds @param {number} busy @param {any} [more] */
const times = (seconds, busy, more) => Array.from({ length: seconds }, () => [busy, more])
/** @param {any[]} decisions */
const first = decisions => {
  const second = decisions.findIndex(decision => decision !== null)
  return second < 0 ? null : { second, ...decisions[second] }
}

t.test('more workers after three seconds above 0.8, as many as bring it to 0.65', async t => {
  t.same(first(decide(times(5, 1.7))), { second: 3, workers: 3, reason: 'busy', busy: 1.7 })
  t.same(first(decide(times(5, 4.4, { workers: 5 }))), { second: 3, workers: 7, reason: 'busy', busy: 4.4 })
  t.equal(first(decide(times(60, 1.6))), null, 'not at 0.8')
  t.equal(first(decide([...times(5, 1), ...times(1, 2), ...times(5, 1)])), null, 'nor for a moment')
})

t.test('saturated workers do not show what is needed: twice as many', async t => {
  t.match(first(decide(times(5, 2))), { workers: 4 })
  t.match(first(decide(times(5, 1, { workers: 1 }))), { workers: 2 })
  t.match(first(decide(times(5, 6, { workers: 6 }))), { workers: 9 }, 'within the bounds')
  t.equal(first(decide(times(60, 9, { workers: 9 }))), null, 'and not beyond them')
})

t.test('workers that boot are workers: none are added for the same load', async t => {
  const boots = { workers: 4, serving: 2 }
  t.equal(first(decide([...times(4, 2, { workers: 2 }).slice(0, 3), ...times(60, 2, boots)])), null)
  t.match(first(decide(times(20, 2, { workers: 2, serving: 1 }))), { workers: 4 }, 'only where that is not enough even so')
  const came = [...times(60, 2, boots), ...times(2, 4, { workers: 4 }), ...times(20, 2.5, { workers: 4 })]
  t.equal(first(decide(came)), null, 'new ones are busy with cold code at first, for less than three seconds')
})

t.test('one worker fewer after two minutes below 0.5 of those that stay, then every 15 s', async t => {
  t.same(first(decide(times(200, 0.4))), { second: 120, workers: 1, reason: 'idle', busy: 0.4 })
  t.equal(first(decide(times(600, 0.5))), null, 'not at 0.5 of one')
  t.equal(first(decide(times(600, 0.1, { workers: 1 }))), null, 'and not below the least')
  t.equal(first(decide([...times(100, 0.2), ...times(5, 1), ...times(100, 0.2)])), null, 'one busy moment holds it')
  const later = decide([...times(121, 0.4, { workers: 4 }), ...times(40, 0.4, { workers: 3 })])
  t.match(later[120], { workers: 3 })
  t.equal(later.slice(121).findIndex(decision => decision !== null), 15)
})

t.test('an app that boots slowly keeps its workers for longer', async t => {
  t.equal(first(decide(times(900, 0.4, { bootMs: 20_000 }))).second, 200)
  t.equal(first(decide(times(900, 0.4, { bootMs: 120_000 }))).second, 600, 'ten minutes at most')
})

t.test('the memory bounds it, and says so', async t => {
  t.match(first(decide(times(5, 2, { fitting: 1 }))), { workers: 3, reason: 'busy' })
  t.match(first(decide(times(5, 2, { fitting: 0 }))), { workers: 2, reason: 'no-room', busy: 2 })
  t.equal(first(decide(times(5, 9, { workers: 9, fitting: 0 }))), null, 'not where the bounds allow no more')
})

t.test('a number outside of the bounds comes back to them', async t => {
  t.match(first(decide(times(2, 0, { workers: 12 }))), { second: 0, workers: 9, reason: 'bounds' })
  t.match(first(decide(times(2, 0), { min: 3, max: 5 })), { second: 0, workers: 3, reason: 'bounds' })
})

t.test('what was before a pause of the primary is forgotten', async t => {
  const late = times(3, 2).map(([busy], i) => [busy, { atMs: 60_000 + 1000 * i }])
  t.equal(first(decide([...times(3, 2), ...late])), null)
})

t.test('the least loaded worker leaves first, and the first slot never', async t => {
  const slot = (/** @type {number} */ slot, busy = 0, connections = 0) => ({ slot, busy, connections })
  t.same(leastLoaded([slot(0, 0), slot(1, 0.5), slot(2, 0.2), slot(5, 0.9)]), [2, 1, 5])
  t.same(leastLoaded([slot(0, 1), slot(1, 0.21, 9), slot(2, 0.19, 8), slot(3, 0.2, 8)]), [3, 2, 1], 'by connections where they do about the same, then the highest')
  t.same(leastLoaded([slot(3)]), [])
})

t.test('whatever the load: within the bounds, and never for the same load up and down', async t => {
  const load = fc.array(fc.record({
    seconds: fc.integer({ min: 1, max: 400 }), busy: fc.double({ min: 0, max: 12, noNaN: true })
  }), { minLength: 1, maxLength: 8 })
  fc.assert(fc.property(load, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 6 }),
    fc.constantFrom(100, 1000, 20_000), (parts, min, more, bootMs) => {
      const demand = parts.flatMap(({ seconds, busy }) => Array(seconds).fill(busy))
      const rule = recycles({ min, max: min + more })
      /** @type {{ from: number, to: number, busy: number }[]} */
      const changes = []
      run([...demand, ...Array(1500).fill(demand.at(-1))], look => {
        const to = rule(look)
        if (to !== null && to !== look.workers) {
          if (to < min || to > min + more) throw new Error(`${to} workers`)
          changes.push({ from: look.workers, to, busy: look.busy })
        }
        return to
      }, { workers: min, bootMs })
      const last = changes.slice(-40).filter(({ busy }) => Math.abs(busy - Number(demand.at(-1))) < 0.001)
      const turns = last.filter(({ from, to }, i) =>
        i > 0 && (to > from) !== (last[i - 1].to > last[i - 1].from)).length
      if (turns > 1) throw new Error(`it oscillates: ${JSON.stringify(last)}`)
    }), { numRuns: extent({ short: 100, long: 300 }), seed: 35 })
})

t.test('an hour of each load: few changes, hardly any time over the target, no overshoot', async t => {
  for (const [name, load] of Object.entries(LOADS)) {
    for (const bootMs of [1000, 20_000]) {
      const { changes, overTarget, most } = run(load, recycles(BOUNDS), { workers: 1, bootMs, noise: noise() })
      t.ok(changes <= 40, `${name}: ${changes} changes`)
      t.ok(overTarget <= 75, `${name}: ${overTarget} s over the target`)
      const needed = Math.ceil(Math.max(...load) / 0.65)
      t.ok(most <= needed + 1, `${name}, ${bootMs} ms: ${most} workers, ${needed} are enough`)
    }
  }
})

t.test('the table of an hour of load has what the simulation gives', async t => {
  const page = fs.readFileSync(path.join(__dirname, '..', '..', '..', 'bench', 'results', 'FIGURES.md'), 'utf8')
  for (const row of table()) t.ok(page.includes(row), row)
})

t.test('without a look at the fleet there is nothing to decide', async t => {
  t.equal(decideNow(NO_HISTORY, { min: 1, max: 9 }), null)
})

t.test('workers are saturated from 0.95 of their time on', async t => {
  t.match(first(decide(times(5, 1.9))), { workers: 4 })
  t.match(first(decide(times(5, 1.89))), { workers: 3 })
})

t.test('a busy moment holds the workers for two minutes and the five seconds that it is counted in', async t => {
  t.equal(first(decide([...times(5, 1), ...times(300, 0.2)])).second, 125)
})

t.test('a gap of three seconds between two looks is no pause, a longer one is', async t => {
  const after = (/** @type {number} */ gapMs) =>
    first(decide([...times(3, 1.7), ...times(1, 1.7, { atMs: 2000 + gapMs })]))
  t.match(after(3000), { second: 3, workers: 3 })
  t.equal(after(3001), null)
})

t.test('what is kept of a long run: one look before the last three seconds, and means of five seconds for ten minutes and two of them', async t => {
  let history = NO_HISTORY
  for (let atMs = 0; atMs <= 700_000; atMs += 1000) {
    history = pushLoad(
      history, {
        atMs, workers: 2, serving: 2, busy: (atMs / 1000) % 5, requestsPerSecond: 0, bootMs: 500, fitting: null
      }
    )
  }
  t.same(history.recent.map(({ atMs }) => atMs), [697_000, 698_000, 699_000, 700_000])
  t.same(history.steps[0], { fromMs: 95_000, busy: 2, looks: 5 })
  t.same(history.steps.at(-1), { fromMs: 700_000, busy: 0, looks: 1 })
})
