'use strict'

/**
 * A request that ends its worker comes ten times a second: how many of the other requests are answered, and after what
 * time. recycle (spawned, with a standby, forked) beside bare cluster that forks anew, pm2, and gunicorn's rule,
 * modelled over cluster.
 *
 *     npm run bench:poison -- [--peers recycle,cluster] [--workers 5] [--rate 500] [--poison 10] [--seconds 60] [--quick]
 *
 * Each request has a connection of its own and is sent at its time, whatever became of those before. A request that is
 * in flight in a worker when it dies is lost with any of them. Answered late counts as answered, up to 10 s.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: passed } = require('node:timers/promises')
const { freePort } = require('../lib/tools/drill/target')
const { install } = require('./peers')
const { poison } = require('./support/poisoner')
const { openBench } = require('./support/rounds')
const { Roster } = require('./support/roster')

/** @type {Record<string, string[]>} file of bench/peers, and what it is given after the budget */
const PEERS = {
  cluster: ['refork.js'],
  recycle: ['recycle.js', '{}'],
  'recycle --standby 1': ['recycle.js', '{"standby":1}'],
  'recycle --fork mold': ['recycle.js', '{"fork":"mold"}'],
  pm2: ['pm2.js'],
  'gunicorn\'s rule': ['refork.js', 'gunicorn']
}
const BUDGET_BYTES = 1024 ** 3
const READY_MS = 60_000

const bench = openBench({
  name: 'poison',
  options: { rounds: '1', peers: { default: Object.keys(PEERS).join(','), of: Object.keys(PEERS) }, workers: String(2 * os.availableParallelism() + 1), rate: '500', poison: '10', seconds: '60' },
  quick: { peers: 'cluster,recycle', workers: '2', rate: '50', poison: '2', seconds: '3' }
})
const [workers, rate, poisonRate, seconds] = ['workers', 'rate', 'poison', 'seconds'].map(key => Number(bench.values[key]))
/** @type {string[]} */
const names = bench.values.peers.split(',')

main().catch(error => {
  console.error(`bench:poison: ${error.message}`)
  process.exit(1)
})

async function main () {
  if (names.includes('pm2')) install(['pm2'])
  await bench.run({
    groups: [{
      name: `${poisonRate} a second among ${rate}`,
      subjects: Object.fromEntries(names.map(name =>
        [name, ({ round }) => round < 0 ? Promise.resolve({}) : measure(name)])),
      beside: names.includes('cluster') ? ['cluster'] : []
    }],
    columns: [
      { key: 'sent', title: 'others sent', total: true },
      { key: 'answered', title: 'answered', total: true },
      { key: 'answeredPercent', title: 'answered, %', digits: 1 },
      { key: 'p50', title: 'p50 ms', digits: 1 },
      { key: 'p99', title: 'p99 ms', digits: 0 },
      { key: 'max', title: 'longest ms', digits: 0 },
      { key: 'deaths', title: 'workers ended', total: true },
      { key: 'hasEnded', title: 'fleet ended', total: true }
    ],
    goals: names.filter(name => name.startsWith('recycle')).map(subject => ({ subject, key: 'hasEnded', atMost: 0 }))
  })
}

/** @param {string} name */
async function measure (name) {
  const [file, ...more] = PEERS[name]
  const roster = new Roster()
  const port = await freePort()
  const peer = spawn(process.execPath, [path.join(__dirname, 'peers', file), path.join(__dirname, 'apps', 'poison.js'), String(workers), String(BUDGET_BYTES), ...more], {
    env: { ...process.env, PORT: String(port), ROSTER: roster.folder }, stdio: 'ignore'
  })
  try {
    const deadline = Date.now() + READY_MS
    while (roster.alive.length < workers) {
      if (Date.now() > deadline) throw new Error(`${name}: its workers do not listen`)
      await passed(50)
    }
    const before = roster.workers.length
    const { sent, answered, errors, ms } = await poison({ port, rate, poisonRate, seconds })
    const at = (/** @type {number} */ share) => ms[Math.min(ms.length - 1, Math.floor(share * ms.length))] ?? null
    const hasEnded = peer.exitCode !== null || peer.signalCode !== null ? 1 : 0
    return {
      sent,
      answered,
      answeredPercent: 100 * answered / sent,
      errors,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
      deaths: roster.workers.length - before,
      hasEnded
    }
  } finally {
    if (peer.exitCode === null && peer.signalCode === null) {
      const gone = once(peer, 'exit')
      peer.kill('SIGTERM')
      const timer = setTimeout(() => peer.kill('SIGKILL'), 15_000)
      await gone
      clearTimeout(timer)
    }
    roster.close()
  }
}
