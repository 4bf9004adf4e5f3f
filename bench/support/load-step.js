'use strict'

/** One fleet, and a load that grows tenfold at once, stays, and falls to what it was. */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: passed } = require('node:timers/promises')
const { Load } = require('../../lib/tools/drill/load')
const { freePort, targetOf } = require('../../lib/tools/drill/target')
const { latencyOf } = require('../../lib/tools/drill/tally')
const { temporaryFolder } = require('./folder')

const APP = path.join(__dirname, '..', 'apps', 'costly.js')
const READY_MS = 60_000
const STOP_MS = 15_000
const TIMEOUT_MS = 30_000 // while one worker has all to do, requests wait for long
const WINDOW_MS = 5000
const LAST_MS = 15_000

/** @typedef {import('../../lib/tools/drill/tally').Tick} Tick */

/**
 * @param {import('../peers/elastic').Peer} peer
 * @param {{ max: number, rate: number, connections: number, beforeMs: number, stepMs: number, calmMs: number,
 *   say: (text: string) => void }} how `rate`: before the step, per second
 * @returns what the clients had: `p99s`: of the five seconds from each second of the step on, ms; `reopened`: sockets
 *   beyond one a client
 */
async function takeStep (peer, { max, rate, connections, beforeMs, stepMs, calmMs, say }) {
  const port = await freePort()
  const starts = path.join(temporaryFolder(), 'starts')
  fs.writeFileSync(starts, '')
  const child = spawn(process.execPath, peer.command({ app: APP, port, max }), { env: { ...process.env, PORT: String(port), STARTS: starts }, stdio: ['ignore', 'ignore', 'inherit'] })
  const died = once(child, 'exit').then(([code, signal]) => { throw new Error(`the fleet ended before its time (${signal ?? `code ${code}`})`) })
  died.catch(() => {})
  const end = () => child.kill('SIGTERM')
  process.once('exit', end)
  /** @type {Load[]} */
  const loads = []
  const counts = { requests: 0, dropped: 0, sockets: 0 }
  /** @param {number} perSecond @param {number} ms @param {number} count connections @returns {Promise<Tick[]>} */
  const run = async (perSecond, ms, count) => {
    if (ms === 0) return []
    const target = targetOf(new URL(`http://127.0.0.1:${port}`))
    const load = new Load({ target, path: '/', rate: perSecond, connections: count, keepAlive: true, method: 'GET', headers: {}, body: null, expect: [[200, 200]], timeoutMs: TIMEOUT_MS }, 1)
    loads.push(load)
    /** @type {Tick[]} */
    const ticks = []
    load.on('line', line => { if (line.event === 'client.tick') ticks.push(line) })
    await Promise.race([died, load.open()])
    load.start()
    await Promise.race([died, passed(ms)])
    await Promise.race([died, load.end()])
    counts.requests += load.requests
    counts.dropped += load.dropped
    counts.sockets += load.sockets
    say(`${counts.requests} requests, ${counts.dropped} dropped`)
    return ticks
  }
  try {
    const deadline = Date.now() + READY_MS
    while (alive(starts) === 0) {
      if (Date.now() > deadline) throw new Error(`no worker listens after ${READY_MS / 1000} s`)
      await Promise.race([died, passed(100)])
    }
    const low = run(rate, beforeMs + stepMs + calmMs, connections)
    await passed(beforeMs)
    const steps = await run(9 * rate, stepMs, connections)
    const most = peak(starts)
    await low
    return {
      ...latencies(steps, stepMs),
      most,
      least: alive(starts),
      requests: counts.requests,
      dropped: counts.dropped,
      reopened: counts.sockets - 2 * connections
    }
  } finally {
    for (const load of loads) load.kill()
    process.removeListener('exit', end)
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      child.kill('SIGTERM')
      await gone
      clearTimeout(timer)
    }
  }
}

/**
 * @param {Tick[]} ticks
 * @param {number} stepMs
 * @returns {{ p99s: number[], p99: number | null, lastP99: number | null }} ms
 */
function latencies (ticks, stepMs) {
  const from = Math.min(...ticks.map(({ t }) => t))
  const between = (/** @type {number} */ begin, /** @type {number} */ end) =>
    latencyOf(ticks.filter(({ t }) => t >= from + begin && t < from + end)).percentiles([0.99])[0]
  const seconds = Math.max(1, Math.floor((stepMs - WINDOW_MS) / 1000))
  const p99s = Array.from({ length: seconds }, (_, i) => between(1000 * i, 1000 * i + WINDOW_MS) ?? Infinity)
  return { p99s, p99: between(0, stepMs), lastP99: between(Math.max(0, stepMs - LAST_MS), stepMs) }
}

/** @param {string} file of the app's lines @returns {number[]} how many workers there were after each line */
function numbers (file) {
  let count = 0
  return fs.readFileSync(file, 'latin1').trim().split('\n').filter(Boolean).map(line => line.startsWith('up') ? ++count : --count)
}

/** @param {string} file @returns {number} workers by now */
function alive (file) {
  return numbers(file).at(-1) ?? 0
}

/** @param {string} file @returns {number} */
function peak (file) {
  return Math.max(0, ...numbers(file))
}

module.exports = { takeStep }
