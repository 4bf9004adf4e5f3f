'use strict'

/**
 * Rolling reloads, one after the other, of an app on the frameworks that most apps use: requests that are dropped,
 * clients' connections that are closed, and the time to the response. recycle, with workers that are spawned and forked
 * (`--fork mold --warm 200`), beside pm2 and Watt.
 *
 *     npm run bench:frameworks -- [--apps http,express,fastify,koa,nest] [--peers recycle,forked,pm2,watt] [--seconds 12] [--rate 400] [--workers 2] [--quick]
 *     npm run bench:next                    Next.js 16 (standalone output); it is built first, which takes 340 MB
 *
 * Clients have keep-alive connections; a tenth of the requests take 300 ms in the app (of Next.js: they are of a route,
 * the others of a page that is rendered). Watt needs Node.js 22.19; it runs the app in threads. p99 is that of the
 * requests that are answered at once.
 */

const { install } = require('./peers')
const { runPeer } = require('./peers/run')
const { openBench } = require('./support/rounds')

const APPS = { http: 'http.js', express: 'express.js', fastify: 'fastify.js', koa: 'koa.js', nest: 'nest.mjs', next: 'next.js' }
const RELOADING = /** @type {Record<string, string>} */ ({ recycle: 'recycle-reload', forked: 'recycle-reload-forked', pm2: 'pm2-reload', watt: 'watt-reload' })
const BUDGET_BYTES = 4 * 1024 ** 3 // no worker reaches it
const SLOW_SHARE = 0.1
const SLOW_MS = 300

const isNext = process.argv.includes('--next')
const bench = openBench({
  name: isNext ? 'next' : 'frameworks',
  options: {
    rounds: '2',
    apps: { default: isNext ? 'next' : 'http,express,fastify,koa,nest', of: Object.keys(APPS) },
    peers: { default: Object.keys(RELOADING).join(','), of: Object.keys(RELOADING) },
    seconds: '12',
    rate: isNext ? '100' : '400',
    workers: '2',
    next: false
  },
  quick: { apps: 'http', peers: 'recycle', seconds: '3', rate: '100' }
})
const { values } = bench
const [seconds, rate, workers] = ['seconds', 'rate', 'workers'].map(key => Number(values[key]))
/** @type {string[]} */
const apps = values.apps.split(',')
/** @type {string[]} */
const peers = values.peers.split(',')
const slowConnections = Math.ceil(rate * SLOW_SHARE * SLOW_MS / 1000 * 2)
const shares = [
  { path: '/', rate: rate * (1 - SLOW_SHARE), connections: 20, isTimed: true },
  { path: '/slow', rate: rate * SLOW_SHARE, connections: slowConnections }
]

main().catch(error => {
  console.error(`bench:${bench.name}: ${error.message}`)
  process.exit(1)
})

async function main () {
  install(peers.map(name => RELOADING[name]))
  if (apps.includes('next')) require('../test/next/build').build()
  await bench.run({
    groups: apps.map(app => ({
      name: app,
      subjects: Object.fromEntries(peers.map(peer => [peer, ({ say }) => measure(peer, app, say)]))
    })),
    columns: [
      { key: 'requests', title: 'requests', total: true },
      { key: 'recycles', title: 'workers replaced', total: true },
      { key: 'dropped', title: 'dropped', total: true },
      { key: 'perRecycle', title: 'per worker replaced', digits: 2 },
      { key: 'reopened', title: 'reopened', total: true },
      { key: 'p50', title: 'p50 ms', digits: 1 },
      { key: 'p99', title: 'p99 ms', digits: 1 }
    ],
    plot: { key: 'perRecycle', title: 'Dropped requests per worker replaced' },
    goals: apps.map(group => ({ group, subject: 'recycle', key: 'dropped', atMost: 0 })),
    note: 'Reopened: connections that clients had to open again.'
  })
}

/** @param {string} peer @param {string} app @param {(text: string) => void} say */
async function measure (peer, app, say) {
  const { requests, recycles, dropped, reopened, errors, all } = await runPeer(RELOADING[peer], {
    app: `frameworks/${APPS[/** @type {keyof typeof APPS} */ (app)]}`,
    keepAlive: true,
    workers,
    budgetBytes: BUDGET_BYTES,
    shares,
    isDone (so) {
      say(`${so.requests} requests, ${so.recycles} workers replaced, ${so.dropped} dropped`)
      return so.elapsedMs >= seconds * 1000
    }
  })
  return {
    requests,
    recycles,
    dropped,
    reopened: reopened ?? undefined,
    perRecycle: recycles ? dropped / recycles : undefined,
    p50: all.p50,
    p99: all.p99,
    errors
  }
}
