'use strict'

/**
 * Rolling reloads behind nginx with upstream keep-alive, the most common layout: the errors that clients of nginx get
 * when the workers are replaced. nginx keeps idle connections to the app; where the app closes one just as nginx sends
 * a request on it, the client gets a 502.
 *
 *     npm run bench:proxy -- [--peers recycle-reload,pm2-reload,recluster] [--seconds 25] [--rate 900] [--workers 3] [--quick]
 *
 * 30 keep-alive clients of nginx, 40 % of the requests POST 20 KB, 5 % take 300 ms. nginx does not retry
 * (`proxy_next_upstream off`): its retry hides a failed GET, and it never retries a POST. Skipped where no nginx is in
 * PATH.
 */

const { install } = require('./peers')
const { runPeer } = require('./peers/run')
const { nginxVersion, startNginx } = require('./support/nginx')
const { openBench } = require('./support/rounds')

const RELOADING = ['recycle-reload', 'pm2-reload', 'recluster']
const SHARES = [
  { path: '/', share: 0.55, connections: 7, isTimed: true },
  { path: '/', share: 0.4, connections: 6, body: Buffer.alloc(20_000, 'x') },
  { path: '/slow', share: 0.05, connections: 17 } // 900/s × 5 % × 300 ms: 13.5 are in flight
]
const BUDGET_BYTES = 1024 ** 3 // no worker reaches it

const bench = openBench({
  name: 'proxy',
  options: { rounds: '3', peers: { default: RELOADING.join(','), of: RELOADING }, seconds: '25', rate: '900', workers: '3' },
  quick: { peers: 'recycle-reload', seconds: '4', rate: '200', workers: '2' }
})
const [seconds, rate, workers] = ['seconds', 'rate', 'workers'].map(key => Number(bench.values[key]))
/** @type {string[]} */
const names = bench.values.peers.split(',')
const version = nginxVersion()

if (version) {
  install(names)
  bench.run({
    groups: [{
      name: 'behind nginx, rolling reloads',
      subjects: Object.fromEntries(names.map(name => [name, ({ say }) => measure(name, say)]))
    }],
    columns: [
      { key: 'requests', title: 'requests', total: true },
      { key: 'recycles', title: 'workers replaced', total: true },
      { key: 'badGateway', title: '502', total: true },
      { key: 'otherErrors', title: 'other errors', total: true },
      { key: 'dropped', title: 'dropped', total: true },
      { key: 'perRecycle', title: 'per worker replaced', digits: 1 },
      { key: 'reopened', title: 'reopened', total: true },
      { key: 'p99', title: 'p99 ms', digits: 1 }
    ],
    goals: [{ subject: 'recycle-reload', key: 'dropped', atMost: 0 }, { subject: 'recycle-reload', key: 'recycles', atLeast: 1 }],
    plot: { key: 'perRecycle', title: 'Requests dropped per worker replaced, behind nginx' },
    note: `${version}, upstream keepalive 32, proxy_next_upstream off. Dropped: no complete response with status 200. Reopened: connections of clients to nginx.`
  })
} else {
  console.log('bench:proxy is skipped: there is no nginx in PATH (on Debian: apt-get install nginx; it is in /usr/sbin)')
}

/** @param {string} name of the peer @param {(text: string) => void} say */
async function measure (name, say) {
  const { requests, recycles, dropped, errors, proxyErrors, reopened, all } = await runPeer(name, {
    app: 'upload.js',
    keepAlive: true,
    workers,
    budgetBytes: BUDGET_BYTES,
    shares: SHARES.map(({ share, ...rest }) => ({ ...rest, rate: rate * share })),
    front: startNginx,
    isDone (so) {
      say(`${so.requests} requests, ${so.recycles} workers replaced, ${so.dropped} dropped`)
      return so.elapsedMs >= seconds * 1000
    }
  })
  const badGateway = errors['status 502'] ?? 0
  return {
    requests,
    recycles,
    badGateway,
    otherErrors: dropped - badGateway,
    dropped,
    perRecycle: recycles ? dropped / recycles : undefined,
    reopened,
    p99: all.p99,
    errors,
    proxyErrors
  }
}
