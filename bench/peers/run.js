'use strict'

/** One run: a peer with the leaky app under load, and what the clients saw of it. */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { Load } = require('../../lib/drill/load')
const { freePort } = require('../../lib/drill/target')
const { now } = require('../../lib/drill/clock')
const { quantile } = require('../../lib/drill/tally')
const { PEERS } = require('.')
const { Roster } = require('../support/roster')

const APP = path.join(__dirname, '..', 'apps', 'leaky.js')
const SLOW_SHARE = 0.1
const SLOW_MS = 300
const READY_MS = 60_000
const STOP_MS = 15_000
const WARM_UP_MS = 2000
const TIMEOUT_MS = 10_000

/**
 * @typedef {object} Plan
 * @property {boolean} keepAlive
 * @property {number} workers
 * @property {number} budgetBytes
 * @property {number} rate requests per second
 * @property {number} connections
 * @property {(so: { requests: number, dropped: number, recycles: number, elapsedMs: number }) => boolean} isDone asked
 *   4 times a second
 *
 * @typedef {Awaited<ReturnType<typeof runPeer>>} Figures
 */

/**
 * The load is made by two processes: the fast requests, whose latency is looked at, and the slow ones. Each has its share
 * of the connections, so that the slow ones, of which rate × 0.1 × 300 ms are under way at any time, never run out.
 *
 * @param {string} name of the peer
 * @param {Plan} plan
 */
async function runPeer (name, { keepAlive, workers, budgetBytes, rate, connections, isDone }) {
  const roster = new Roster()
  const port = await freePort()
  const { peer, said } = start(name, { port, workers, budgetBytes, roster })
  const slowConnections = Math.min(connections - 1, Math.ceil(rate * SLOW_SHARE * SLOW_MS / 1000 * 1.25))
  const fast = loadOf({ path: '/', port, keepAlive, rate: rate * (1 - SLOW_SHARE), connections: connections - slowConnections })
  const slow = loadOf({ path: '/slow', port, keepAlive, rate: rate * SLOW_SHARE, connections: slowConnections })
  const loads = [fast, slow]
  /** @type {import('../../lib/drill/load').Tick[]} */
  const ticks = []
  fast.on('line', line => { if (line.event === 'client.tick') ticks.push(line) })
  const died = new Promise((resolve, reject) => {
    for (const load of loads) load.once('died', how => reject(new Error(`a process of the load ended before its time (${how})`)))
    peer.once('exit', (code, signal) => reject(new Error(`${name} ended before its time (${signal ?? `code ${code}`}): ${said()}`)))
  })
  died.catch(() => {})
  const end = () => {
    peer.kill('SIGTERM')
    roster.close()
  }
  process.once('exit', end) // also where somebody loses patience
  try {
    await Promise.race([died, ready(roster, workers, name)])
    await Promise.race([died, Promise.all(loads.map(load => load.open()))])
    const startAt = now()
    for (const load of loads) load.start()
    const so = () => ({
      requests: fast.requests + slow.requests,
      dropped: fast.dropped + slow.dropped,
      recycles: roster.endedSince(startAt),
      elapsedMs: now() - startAt
    })
    while (!isDone(so())) await Promise.race([died, passed(250)])
    const stopAt = now()
    const { recycles } = so()
    const changes = roster.changes(startAt, stopAt)
    await Promise.race([died, Promise.all(loads.map(load => load.end()))])

    const warm = ticks.filter(({ t }) => t >= startAt + WARM_UP_MS && t < stopAt)
    const isDuring = (/** @type {{ t: number, ms: number }} */ { t, ms }) => changes.some(([from, to]) => from < t + ms && to > t)
    return {
      requests: fast.requests + slow.requests,
      recycles,
      dropped: fast.dropped + slow.dropped,
      errors: sumUp(loads.map(({ errors }) => errors)),
      reopened: keepAlive ? fast.sockets + slow.sockets - connections : null,
      seconds: Math.round((stopAt - startAt) / 100) / 10,
      all: latency(warm),
      steady: latency(warm.filter(tick => !isDuring(tick))),
      during: latency(warm.filter(isDuring)),
      peakWorkerMiB: Math.round(roster.peakBytes / 1024 ** 2),
      peakFleetMiB: Math.round(roster.peakFleetBytes / 1024 ** 2)
    }
  } finally {
    for (const load of loads) load.kill()
    await stop(peer)
    roster.close()
    process.removeListener('exit', end)
  }
}

/** @param {string} name @param {{ port: number, workers: number, budgetBytes: number, roster: Roster }} how */
function start (name, { port, workers, budgetBytes, roster }) {
  const { file, more } = PEERS[name]
  const peer = spawn(process.execPath, [path.join(__dirname, file), APP, String(workers), String(budgetBytes), ...more ? [more] : []], {
    env: { ...process.env, PORT: String(port), ROSTER: roster.folder },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let tail = '' // some say a good deal when their workers crash; it matters only where the run fails
  peer.stderr.setEncoding('utf8').on('data', text => { tail = (tail + text).slice(-4000) })
  return { peer, said: () => tail }
}

/** @param {Roster} roster @param {number} workers @param {string} name */
async function ready (roster, workers, name) {
  const deadline = now() + READY_MS
  while (roster.alive.length < workers) {
    if (now() > deadline) throw new Error(`${name}: ${roster.alive.length} of ${workers} workers listen after ${READY_MS / 1000} s`)
    await passed(50)
  }
}

/** @param {import('node:child_process').ChildProcess} peer */
async function stop (peer) {
  if (peer.exitCode !== null || peer.signalCode !== null) return
  const gone = once(peer, 'exit')
  const timer = setTimeout(() => peer.kill('SIGKILL'), STOP_MS)
  peer.kill('SIGTERM')
  await gone
  clearTimeout(timer)
}

/** @param {{ path: string, port: number, keepAlive: boolean, rate: number, connections: number }} how */
function loadOf ({ path, port, ...plan }) {
  const target = { url: `http://127.0.0.1:${port}`, secure: false, host: '127.0.0.1', port, socketPath: null }
  return new Load({ target, path, ...plan, method: 'GET', headers: {}, body: null, expect: [[200, 200]], timeoutMs: TIMEOUT_MS }, 1)
}

/** @param {import('../../lib/drill/load').Tick[]} ticks @returns {{ answered: number, p50: number | null, p99: number | null, max: number | null }} ms */
function latency (ticks) {
  const counts = new Map()
  for (const tick of ticks) for (const [ms, count] of tick.latency) counts.set(ms, (counts.get(ms) ?? 0) + count)
  const answered = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return { answered, p50: quantile(counts, 0.5), p99: quantile(counts, 0.99), max: quantile(counts, 1) }
}

/** @param {Map<string, number>[]} maps */
function sumUp (maps) {
  /** @type {Record<string, number>} */
  const sum = {}
  for (const map of maps) for (const [key, count] of map) sum[key] = (sum[key] ?? 0) + count
  return sum
}

/** @param {number} ms */
function passed (ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}

module.exports = { runPeer }
