'use strict'

/**
 * The number of requests dropped when workers are recycled: recycle compared with its peers, with the same leaky app,
 * the same paced load and the strict client of `recycle drill`.
 *
 *     npm run bench:drops -- [--peers recycle,pm2] [--modes keep-alive,close] [--seconds 30] [--rate 1600] [--workers 5]
 *                            [--connections 100] [--budget 160] [--patience 0]
 *     npm run bench:drops -- --million      recycle alone: a million requests and 200 recycles, divided among the rounds
 *
 * p99 is that of the requests that the app answers at once, during recycles; requests that take 300 ms are counted, but
 * not timed. A run in which no worker was recycled, or memory grew to four times the budget, is void: its drops count
 * in the sums, but not per recycle, and it has no p99. With --patience a run without a recycle lasts up to that many
 * seconds longer.
 */

const os = require('node:os')
const { PEERS, install } = require('./peers')
const { runPeer } = require('./peers/run')
const { openBench } = require('./support/rounds')

const MILLION = { requests: 1_000_000, recycles: 200 }
const LONGEST_MS = 3600_000
const BOUNDED = 4 // times the budget
const KEPT_BYTES = 50 * 1024

// For bench:proxy and bench:crash
const ALL = Object.keys(PEERS).filter(name => !['recycle-reload', 'recycle-reload-forked', 'recycle-once', 'pm2-once', 'watt-reload', 'cluster', 'nginx'].includes(name))
const SLOW_SHARE = 0.1
const SLOW_MS = 300

const isMillion = process.argv.includes('--million')
const bench = openBench({
  name: isMillion ? 'drops-million' : 'drops',
  options: {
    peers: { default: isMillion ? 'bare,recycle' : ALL.join(','), of: ALL },
    modes: { default: isMillion ? 'keep-alive' : 'keep-alive,close', of: ['keep-alive', 'close'] },
    seconds: '30',
    rate: '1600',
    workers: String(2 * os.availableParallelism() + 1),
    connections: '100',
    budget: '160',
    patience: '0',
    million: false
  },
  quick: { peers: 'recycle,blog-post', modes: 'keep-alive', seconds: '2', rate: '600', workers: '2', connections: '60', budget: '80', patience: '40' }
})
const { values, rounds } = bench
const [seconds, patience, rate, workers, connections, budget] = ['seconds', 'patience', 'rate', 'workers', 'connections', 'budget'].map(key => Number(values[key]))
/** @type {string[]} */
const names = values.peers.split(',')
/** @type {string[]} */
const modes = values.modes.split(',')

// The slow requests have connections of their own, so that the fast, timed ones never wait for them.
const slowConnections = Math.min(connections - 1, Math.ceil(rate * SLOW_SHARE * SLOW_MS / 1000 * 1.25))
const shares = [
  { path: '/', rate: rate * (1 - SLOW_SHARE), connections: connections - slowConnections, isTimed: true },
  { path: '/slow', rate: rate * SLOW_SHARE, connections: slowConnections }
]

main().catch(error => {
  console.error(`bench:drops: ${error.message}`)
  process.exit(1)
})

async function main () {
  install(names)
  const results = await bench.run({
    groups: modes.map(mode => ({
      name: mode === 'close' ? 'a connection per request' : mode,
      subjects: Object.fromEntries(names.map(name => [name, (/** @type {any} */ { say }) => take(mode, name, say)])),
      beside: names.filter(name => PEERS[name].recycles === false)
    })),
    columns: [
      { key: 'requests', title: 'requests', total: true },
      { key: 'recycles', title: 'recycles', total: true },
      { key: 'dropped', title: 'dropped', total: true },
      { key: 'perRecycle', title: 'per recycle', digits: 1 },
      { key: 'perMillion', title: 'per million' },
      { key: 'reopened', title: 'reopened', total: true },
      { key: 'rps', title: 'requests/s', set: 'latency', brief: true },
      { key: 'p50', title: 'p50 ms', digits: 2, set: 'latency' },
      { key: 'p99Steady', title: 'p99 steady', digits: 1, set: 'latency' },
      { key: 'p99', title: 'p99 recycling', digits: 1, ratio: true, less: true, set: 'latency' },
      { key: 'p99ByOwn', title: '÷ steady', digits: 2, set: 'latency' },
      { key: 'peakWorkerMiB', title: 'largest worker, MiB', set: 'latency', brief: true },
      { key: 'peakFleetMiB', title: 'largest fleet, MiB', set: 'latency', brief: true }
    ],
    plot: { key: 'perRecycle', title: 'Requests dropped per recycle' },
    goals: [
      { subject: 'recycle', key: 'dropped', atMost: 0 },
      { subject: 'recycle', key: 'reopened', atMost: 0, group: 'keep-alive' },
      { subject: 'recycle', key: 'p99', ratioAtMost: 1.2 },
      ...isMillion ? Object.entries(MILLION).map(([key, atLeast]) => ({ subject: 'recycle', key, atLeast })) : []
    ]
  })
  for (const group of results.groups) {
    for (const { name, rounds } of group.subjects) {
      for (const [error, count] of Object.entries(sumUp(rounds))) console.log(`${group.name}: ${name}: ${count} ${error}`)
    }
  }
}

/** @param {string} mode @param {string} name of the peer @param {(text: string) => void} say */
async function take (mode, name, say) {
  const leaksFor = os.freemem() / 2 / (rate * KEPT_BYTES) * 1000 // bare cluster frees nothing
  const { recycles: isRecycling = true } = PEERS[name]
  const isDone = isMillion && isRecycling
    ? (/** @type {any} */ so) => (so.requests >= MILLION.requests / rounds &&
      so.recycles >= MILLION.recycles / rounds) || so.elapsedMs > LONGEST_MS
    : (/** @type {any} */ so) => so.elapsedMs >= Math.min(
        seconds * 1000 + (isRecycling && so.recycles === 0 ? patience * 1000 : 0), isRecycling ? Infinity : leaksFor
      )
  const seen = await runPeer(name, {
    app: 'leaky.js',
    keepAlive: mode === 'keep-alive',
    workers,
    budgetBytes: budget * 1024 ** 2,
    shares,
    isDone (so) {
      say(`${so.requests} requests, ${so.recycles} recycles, ${so.dropped} dropped`)
      return isDone(so)
    }
  })
  const why = whyVoid(name, seen)
  const {
    requests, recycles, dropped, reopened, errors, all, steady, during, peakWorkerMiB, peakFleetMiB, seconds: took
  } = seen
  return {
    ...why === null ? {} : { void: why },
    requests,
    recycles,
    dropped,
    perRecycle: recycles && !why ? dropped / recycles : undefined,
    perMillion: dropped / requests * 1e6,
    reopened: reopened ?? undefined,
    rps: requests / took,
    p50: all.p50,
    p99Steady: steady.p99 ?? undefined,
    p99: why ? undefined : recycles ? during.p99 ?? undefined : all.p99,
    p99ByOwn: !why && during.p99 && steady.p99 ? during.p99 / steady.p99 : undefined,
    max: all.max,
    peakWorkerMiB,
    peakFleetMiB,
    errors,
    took
  }
}

/** @param {string} name @param {import('./peers/run').Figures} figures @returns {string | null} */
function whyVoid (name, { recycles, peakWorkerMiB }) {
  if (PEERS[name].recycles === false) return null
  if (recycles === 0) return 'void: no worker was recycled'
  return peakWorkerMiB > BOUNDED * budget ? `void: a worker grew to ${peakWorkerMiB} MiB` : null
}

/** Errors and void runs over the rounds. @param {any[]} rounds */
function sumUp (rounds) {
  /** @type {Record<string, number>} */
  const sum = {}
  for (const figures of rounds) {
    if (figures?.void) sum[`(${figures.void})`] = (sum[`(${figures.void})`] ?? 0) + 1
    for (const [error, count] of Object.entries(figures?.errors ?? {})) sum[error] = (sum[error] ?? 0) + Number(count)
  }
  return sum
}
