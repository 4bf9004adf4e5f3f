'use strict'

/** One run: a peer with an app under load, and the records of its clients. */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: passed } = require('node:timers/promises')
const { Load } = require('../../lib/tools/drill/load')
const { freePort, targetOf } = require('../../lib/tools/drill/target')
const { now } = require('../../lib/tools/drill/clock')
const { latencyOf } = require('../../lib/tools/drill/tally')
const { PEERS } = require('.')
const { Roster } = require('../support/roster')

const READY_MS = 60_000
const STOP_MS = 15_000
const WARM_UP_MS = 2000
const TIMEOUT_MS = 10_000
const ASK_EVERY_MS = 250

/**
 * @typedef {object} Share of the load, made by a process of its own
 * @property {string} path
 * @property {number} rate requests per second
 * @property {number} connections
 * @property {Buffer} [body] sent by POST
 * @property {boolean} [isTimed] its latencies are recorded
 *
 * @typedef {object} Plan
 * @property {string} app a file of bench/apps
 * @property {boolean} keepAlive
 * @property {number} workers
 * @property {number} budgetBytes
 * @property {Share[]} shares
 * @property {(port: number) => Promise<Proxy>} [front] starts a proxy in front of the peer
 * @property {number} [killEveryMs] one of its workers is killed that often, each in turn
 * @property {(so: { requests: number, dropped: number, recycles: number, elapsedMs: number }) => boolean} isDone asked
 *   4 times a second
 *
 * @typedef {{ port: number, stop: () => Promise<Record<string, number>> }} Proxy `stop`: the errors that it has logged
 *
 * @typedef {Awaited<ReturnType<typeof runPeer>>} Figures
 */

/** @param {string} name of the peer @param {Plan} plan */
async function runPeer (name, { app, keepAlive, workers, budgetBytes, shares, front, killEveryMs = Infinity, isDone }) {
  const roster = new Roster()
  const port = await freePort()
  const { peer, said } = start(name, { app, port, workers, budgetBytes, roster })
  /** @type {Load[]} */
  let loads = []
  /** @type {Proxy | undefined} */
  let proxy
  /** @type {import('../../lib/tools/drill/tally').Tick[]} */
  const ticks = []
  /** @type {Record<string, number>} */
  const errors = {}
  const died = new Promise((resolve, reject) => {
    peer.once('exit', (code, signal) => reject(new Error(`${name} ended before its time (${signal ?? `code ${code}`}): ${said()}`)))
  })
  died.catch(() => {})
  const end = () => {
    peer.kill('SIGTERM')
    roster.close()
  }
  process.once('exit', end) // the run may be interrupted
  try {
    await Promise.race([died, ready(roster, workers, name)])
    proxy = await front?.(port)
    loads = shares.map(share => loadOf(proxy?.port ?? port, keepAlive, share))
    const loadDied = Promise.race([died, ...loads.map(load => new Promise((resolve, reject) => {
      load.once('died', how => reject(new Error(`a process of the load ended before its time (${how})`)))
    }))])
    loadDied.catch(() => {})
    loads.forEach((load, i) => load.on('line', line => {
      if (line.event === 'client.drop') count(errors, line.error === 'status' ? `status ${line.status}` : line.error)
      else if (shares[i].isTimed) ticks.push(line)
    }))
    await Promise.race([loadDied, Promise.all(loads.map(load => load.open()))])
    const startAt = now()
    for (const load of loads) load.start()
    const so = () => ({
      requests: sum(loads.map(load => load.requests)),
      dropped: sum(loads.map(load => load.dropped)),
      recycles: roster.replacedSince(startAt),
      elapsedMs: now() - startAt
    })
    for (let killAt = startAt + WARM_UP_MS + killEveryMs; !isDone(so());) {
      await Promise.race([loadDied, passed(Math.min(ASK_EVERY_MS, killEveryMs))])
      if (now() < killAt) continue
      killAt += killEveryMs
      roster.killOldest()
    }
    const stopAt = now()
    const { recycles } = so()
    const changes = roster.changes(startAt, stopAt)
    await Promise.race([loadDied, Promise.all(loads.map(load => load.end()))])

    const { requests, dropped } = so()
    const proxyErrors = await proxy?.stop()
    proxy = undefined
    const warm = ticks.filter(({ t }) => t >= startAt + WARM_UP_MS && t < stopAt)
    const isDuring = (/** @type {{ t: number, ms: number }} */ { t, ms }) =>
      changes.some(([from, to]) => from < t + ms && to > t)
    return {
      requests,
      recycles,
      dropped,
      errors,
      proxyErrors,
      reopened: keepAlive
        ? sum(loads.map(load => load.sockets)) - sum(shares.map(({ connections }) => connections))
        : null,
      seconds: Math.round((stopAt - startAt) / 100) / 10,
      all: latency(warm),
      steady: latency(warm.filter(tick => !isDuring(tick))),
      during: latency(warm.filter(isDuring)),
      peakWorkerMiB: Math.round(roster.peakBytes / 1024 ** 2),
      peakFleetMiB: Math.round(roster.peakFleetBytes / 1024 ** 2)
    }
  } finally {
    for (const load of loads) load.kill()
    await proxy?.stop()
    await stop(peer)
    roster.close()
    process.removeListener('exit', end)
  }
}

/**
 * @param {string} name @param {{ app: string, port: number, workers: number, budgetBytes: number, roster: Roster }} how
 */
function start (name, { app, port, workers, budgetBytes, roster }) {
  const { file, more } = PEERS[name]
  const args = [path.join(__dirname, file), path.join(__dirname, '..', 'apps', app), String(workers), String(budgetBytes), ...more ? [more] : []]
  const peer = spawn(process.execPath, args, {
    env: { ...process.env, PORT: String(port), ROSTER: roster.folder },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let tail = '' // some peers print a lot when their workers crash; it is shown only if the run fails
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

/** @param {number} port @param {boolean} keepAlive @param {Share} share */
function loadOf (port, keepAlive, { path, rate, connections, body }) {
  const target = targetOf(new URL(`http://127.0.0.1:${port}`))
  return new Load({ target, path, rate, connections, keepAlive, method: body ? 'POST' : 'GET', headers: {}, body: body ?? null, expect: [[200, 200]], timeoutMs: TIMEOUT_MS }, 1)
}

/**
 * @param {import('../../lib/tools/drill/tally').Tick[]} ticks
 * @returns {{ answered: number, p50: number | null, p99: number | null, max: number | null }} ms
 */
function latency (ticks) {
  const all = latencyOf(ticks)
  const [p50, p99, max] = all.percentiles([0.5, 0.99, 1])
  return { answered: all.total, p50, p99, max }
}

/** @param {Record<string, number>} counts @param {string} key */
function count (counts, key) {
  counts[key] = (counts[key] ?? 0) + 1
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((sum, number) => sum + number, 0)
}

module.exports = { runPeer }
