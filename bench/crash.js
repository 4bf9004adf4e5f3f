'use strict'

/**
 * Requests that fail as workers are killed (SIGKILL), the one that is oldest every second: recycle beside bare cluster
 * that forks anew, pm2, and nginx with `proxy_next_upstream` before plain processes.
 *
 *     npm run bench:crash -- [--peers recycle,cluster] [--modes keep-alive,close] [--methods GET,POST] [--seconds 30] [--every 1000]
 *                            [--rate 600] [--workers 4] [--quick]
 *
 * A tenth of the requests take 300 ms, so some are in flight at each kill. `longest` is that of those that the app
 * answers at once: the time until a connection whose worker was killed has its next answer.
 */

const { PEERS, install } = require('./peers')
const { runPeer } = require('./peers/run')
const { nginxVersion } = require('./support/nginx')
const { openBench } = require('./support/rounds')

const ALL = ['recycle', 'cluster', 'pm2', 'nginx']
const BUDGET_BYTES = 1024 ** 3 // no worker reaches it
const SLOW_SHARE = 0.1
const SLOW_MS = 300
const BODY = Buffer.alloc(20_000, 'x')

const bench = openBench({
  name: 'crash',
  options: {
    rounds: '3',
    peers: { default: ALL.join(','), of: ALL },
    modes: { default: 'keep-alive,close', of: ['keep-alive', 'close'] },
    methods: { default: 'GET,POST', of: ['GET', 'POST'] },
    seconds: '30',
    every: '1000',
    rate: '600',
    workers: '4'
  },
  quick: { peers: 'recycle,cluster', modes: 'keep-alive', methods: 'GET', seconds: '6', rate: '200', workers: '2' }
})
const { values } = bench
const [seconds, every, rate, workers] = ['seconds', 'every', 'rate', 'workers'].map(key => Number(values[key]))
const slowConnections = Math.ceil(rate * SLOW_SHARE * SLOW_MS / 1000 * 1.5)
const shares = [
  { path: '/', rate: rate * (1 - SLOW_SHARE), connections: 40, isTimed: true },
  { path: '/slow', rate: rate * SLOW_SHARE, connections: slowConnections }
]
const version = nginxVersion()
/** @type {string[]} */
const names = values.peers.split(',').filter((/** @type {string} */ name) => name !== 'nginx' || version)

main().catch(error => {
  console.error(`bench:crash: ${error.message}`)
  process.exit(1)
})

async function main () {
  if (!version) console.error('nginx is left out: there is none in PATH')
  install(names.filter(name => PEERS[name].needs))
  /** @type {{ name: string, keepAlive: boolean, body?: Buffer }[]} */
  const groups = values.modes.split(',').flatMap((/** @type {string} */ mode) => values.methods.split(',').map((/** @type {string} */ method) => ({
    name: `${method}, ${mode === 'close' ? 'a connection per request' : mode}`,
    keepAlive: mode === 'keep-alive',
    ...method === 'POST' && { body: BODY }
  })))
  await bench.run({
    groups: groups.map(({ name, ...how }) => ({
      name,
      subjects: Object.fromEntries(names.map(peer => [peer, (/** @type {any} */ { say }) => measure(peer, how, say)]))
    })),
    columns: [
      { key: 'requests', title: 'requests', total: true },
      { key: 'kills', title: 'kills', total: true },
      { key: 'dropped', title: 'failed', total: true },
      { key: 'resets', title: 'without an answer', total: true },
      { key: 'perKill', title: 'failed per kill', digits: 2 },
      { key: 'reopened', title: 'reopened', total: true },
      { key: 'p99', title: 'p99 ms', digits: 1 },
      { key: 'longest', title: 'longest ms', digits: 0 }
    ],
    plot: { key: 'perKill', title: 'Requests that failed per killed worker' },
    goals: [
      { subject: 'recycle', key: 'dropped', atMost: 0, group: 'GET, keep-alive' },
      { subject: 'recycle', key: 'reopened', atMost: 0, group: 'GET, keep-alive' }
    ],
    note: `${version ? `${version}: proxy_next_upstream error timeout, max_fails=0. ` : ''}Without an answer: the others that failed got a 502. Reopened: clients' connections.`
  })
}

/** @param {string} peer @param {{ keepAlive: boolean, body?: Buffer }} how @param {(text: string) => void} say */
async function measure (peer, { keepAlive, body }, say) {
  const { requests, recycles: kills, dropped, reopened, errors, all } = await runPeer(peer, {
    app: 'upload.js',
    keepAlive,
    workers,
    budgetBytes: BUDGET_BYTES,
    shares: shares.map(share => ({ ...share, body })),
    killEveryMs: every,
    isDone (so) {
      say(`${so.requests} requests, ${so.recycles} kills, ${so.dropped} failed`)
      return so.elapsedMs >= seconds * 1000
    }
  })
  const resets = dropped - (errors['status 502'] ?? 0)
  return {
    requests,
    kills,
    dropped,
    resets,
    perKill: kills ? dropped / kills : undefined,
    reopened: reopened ?? undefined,
    p99: all.p99,
    longest: all.max,
    errors
  }
}
