'use strict'

/**
 * Where connections are and how they move, in a simulation: by load, as recycle does; by count alone; by one queue for
 * all workers; round robin; least connections. Loads are synthetic and seeded, a round is a seed
 * (bench/support/synthetic-fleet.js). No fleet runs.
 *
 *     npm run bench:placement-model -- [--seconds 40] [--workers 5] [--cpus 2] [--quick]
 */

const { setImmediate: passed } = require('node:timers/promises')
const { openBench } = require('./support/rounds')
const { simulate } = require('./support/synthetic-fleet')

/** @type {Record<string, import('./support/synthetic-fleet').Policy>} */
const POLICIES = { 'by load (recycle)': 'load', 'by count': 'count', 'one queue': 'shared', 'round robin': 'round robin', 'least connections': 'least connections' }
const [OURS, ...OTHERS] = Object.keys(POLICIES)

/** @type {Record<string, import('./support/synthetic-fleet').Kind>} */
const LOADS = {
  steady: { connections: 60, share: 0.6, costMs: 2 },
  'short requests': { connections: 50, share: 0.5, costMs: 0.05 },
  'a ramp to 90 %': { connections: 60, share: 0.9, costMs: 2, factor: at => 0.1 + 0.9 * at },
  'spikes of 2 s to 120 %': { connections: 60, share: 0.4, costMs: 2, factor: at => at % 0.25 < 0.05 ? 3 : 1 },
  "skewed by Zipf's law": { connections: 200, share: 0.6, costMs: 2, zipf: 1 },
  '4 busy of one worker, among 10,000 idle': { connections: 10_000, share: 0.6, costMs: 2, busy: 4 },
  '5 of 50 slow': { connections: 50, share: 0.5, costMs: 0.5, slow: 5 },
  'a storm of 5,000': { connections: 60, share: 0.3, costMs: 1, storm: 5000 },
  'scaled from 3 to 5': { connections: 60, share: 0.8, costMs: 2, workersAtFirst: 3 },
  'a recycle every 5 s': { connections: 60, share: 0.6, costMs: 2, zipf: 1, recycleEveryMs: 5000 }
}

const bench = openBench({ name: 'placement-model', options: { seconds: '40', workers: '5', cpus: '2' }, quick: { seconds: '6' } })
const [seconds, workers, cpus] = [bench.values.seconds, bench.values.workers, bench.values.cpus].map(Number)

bench.run({
  groups: Object.entries(LOADS).map(([name, kind]) => ({
    name,
    by: 'p99',
    beside: OTHERS,
    subjects: Object.fromEntries(Object.entries(POLICIES).map(([subject, policy]) => [subject, async ({ round }) => {
      await passed() // Ctrl-C is heard
      return round < 0 ? {} : simulate({ seed: round, policy, kind, workers, cpus, seconds })
    }]))
  })),
  columns: [
    { key: 'p99', title: 'p99 ms', digits: 1, ratio: true, less: true },
    { key: 'p50', title: 'p50 ms', digits: 1, less: true },
    { key: 'moves', title: 'moves', digits: 0, less: true },
    { key: 'wakesPerSecond', title: 'wake-ups/s', digits: 0, less: true },
    { key: 'fullest', title: 'fullest/mean connections', digits: 2, less: true }
  ],
  plot: { key: 'p99', title: 'p99 in a simulation, beside the best of the other policies', ratio: true },
  goals: [
    ...['steady', 'a storm of 5,000'].map(group => ({ group, subject: OURS, key: 'p99', ratioAtMost: 1.05 })),
    { group: '4 busy of one worker, among 10,000 idle', subject: OURS, key: 'p99', ratioAtMost: 0.5 },
    { group: 'a storm of 5,000', subject: OURS, key: 'fullest', atMost: 1.25 }
  ]
})
