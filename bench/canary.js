'use strict'

/**
 * How often new code beside old is called bad: equal code, and code of several faults, by how many requests it gets.
 * Deploys are synthetic and seeded: four workers of the old code and one of the new, as in `--bake 2m`; what they count
 * is judged every five seconds and at the end (lib/features/canary/verdict.js). No fleet runs.
 *
 *     npm run bench:canary -- [--deploys 250] [--faults 40] [--requests 200,500,1000] [--quick]
 *
 * --deploys: of equal code, for each number of requests; --faults: of each fault; --requests: what the new worker gets,
 * on average.
 */

const { setImmediate: passed } = require('node:timers/promises')
const { openBench } = require('./support/rounds')
const { deploy } = require('./support/synthetic-deploy')

/** @type {Record<string, import('./support/synthetic-deploy').Fault>} */
const FAULTS = {
  '5xx for all requests': { errors: 1 },
  '5xx for 10 % more': { errors: 0.1 },
  '5xx for 1 % more': { errors: 0.01 },
  'no answer to 5 % more': { unanswered: 0.05 },
  '4xx for all requests': { refusals: 1 },
  'twice as slow': { slower: 2 },
  '20 % slower': { slower: 1.2 },
  'slowest 5 % are 20 % slower': { slowerTail: 1.2 },
  'slowest 5 % are 3 times slower': { slowerTail: 3 },
  'event loop twice as long': { cpu: 2 },
  'keeps 1 KiB of a request': { leak: 1024 },
  'keeps 10 KiB of a request': { leak: 10240 },
  'crashes every 5,000 requests': { crashes: 1 / 5000 }
}
const EQUAL = 'equal code'
/** @type {Record<string, import('./support/synthetic-deploy').Traffic>} */
const TRAFFIC = { 'a connection for each client': 'clients', 'behind a proxy': 'proxy' }

const bench = openBench({
  name: 'canary',
  options: { rounds: '1', deploys: '250', faults: '40', requests: '200,500,1000,2000,5000,10000,50000' },
  quick: { deploys: '2', faults: '1', requests: '200,500' }
})
/** @type {number[]} */
const sizes = bench.values.requests.split(',').map(Number)

bench.run({
  groups: Object.entries(TRAFFIC).map(([name, traffic], at) => ({
    name,
    subjects: Object.fromEntries([EQUAL, ...Object.keys(FAULTS)].map((subject, of) =>
      [subject, async ({ round, say }) =>
        round < 0 ? {} : tryOut(traffic, FAULTS[subject], 1e6 * (20 * at + of + 100 * round), say)]))
  })),
  columns: [
    ...sizes.map(size => ({ key: `bad${size}`, title: `${size} requests, % bad`, digits: 1 })),
    { key: 'deploys', title: 'deploys', total: true },
    { key: 'badPercent', title: 'all, % bad', digits: 2 },
    { key: 'undecidedPercent', title: '% undecided', digits: 1 },
    { key: 'seconds', title: 'bad after s (median)', digits: 0 }
  ],
  goals: [{ subject: EQUAL, key: 'badPercent', atMost: 1 }]
})

/**
 * @param {import('./support/synthetic-deploy').Traffic} traffic
 * @param {import('./support/synthetic-deploy').Fault | undefined} fault
 * @param {number} seed
 * @param {(text: string) => void} say
 */
async function tryOut (traffic, fault, seed, say) {
  const count = Math.round(Number(fault ? bench.values.faults : bench.values.deploys))
  /** @type {Record<string, number>} */
  const found = {}
  /** @type {Record<string, number>} */
  const by = {}
  const verdicts = []
  for (const [at, requests] of sizes.entries()) {
    say(`${requests} requests`)
    await passed() // Ctrl-C is heard
    const own = Array.from({ length: count }, (_, i) =>
      deploy({ seed: seed + at * count + i, requests, traffic, fault }))
    found[`bad${requests}`] = 100 * own.filter(isBad).length / count
    verdicts.push(...own)
  }
  const bad = verdicts.filter(isBad)
  for (const { verdict } of bad) by[String(verdict.decidedBy)] = (by[String(verdict.decidedBy)] ?? 0) + 1
  return {
    ...found,
    deploys: verdicts.length,
    badPercent: 100 * bad.length / verdicts.length,
    undecidedPercent: 100 * verdicts.filter(({ verdict }) => verdict.verdict === 'undecided').length / verdicts.length,
    seconds: bad.map(({ seconds }) => seconds).sort((a, b) => a - b)[bad.length >> 1] ?? null,
    by
  }
}

/** @param {ReturnType<typeof deploy>} deployed */
function isBad ({ verdict }) {
  return verdict.verdict === 'bad'
}
