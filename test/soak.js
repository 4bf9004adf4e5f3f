'use strict'

/**
 * A long run of the hand-off: `npm run soak [requests] [recycles] [every]`, by default 1,000,000 requests over at least 200
 * recycles on 200 keep-alive connections, half of the clients with think time. `every`: a recycle begins so many milliseconds
 * after the one before, by default 0, at once; `npm run soak 0 600 1000` is ten minutes with a recycle a second. It fails on one
 * failed request, one reconnect, or one account that does not add up. The clients run in a process of their own. The primary's memory
 * and descriptors are read at each recycle: their slopes are printed with their standard errors.
 */

const { fork } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { supervise } = require('..')
const { freePort, sumOfEnds, FIXTURES } = require('./support/fleet')
const { Load } = require('./support/load')

const CONNECTIONS = 200
const THINK_MS = 50

if (process.argv[2] === 'client') client(Number(process.argv[3]))
else main(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 200), Number(process.argv[4] ?? 0))

/** @param {number} port */
function client (port) {
  const loads = [0, THINK_MS].map(thinkMs => new Load({ port, connections: CONNECTIONS / 2, thinkMs }))
  const timer = setInterval(() => process.send?.({ requests: sum(loads, 'requests') }), 200)
  process.once('message', async () => {
    clearInterval(timer)
    const counts = await Promise.all(loads.map(load => load.stop()))
    process.send?.({
      requests: sum(counts, 'requests'),
      failures: counts.flatMap(c => c.failures),
      sockets: sum(counts, 'sockets'),
      isFinal: true
    })
    process.disconnect()
  })
}

/** @param {number} requests @param {number} recycles @param {number} everyMs */
async function main (requests, recycles, everyMs) {
  const port = await freePort()
  process.env.PORT = String(port)
  const fleet = supervise({ app: path.join(FIXTURES, 'plain.js'), workers: 4, interval: '200ms' })
  const accounts = []
  fleet.on('event', line => { if (line.event === 'recycled') accounts.push(line) })
  await fleet.ready()

  const began = Date.now()
  const clients = fork(__filename, ['client', String(port)])
  let last = { requests: 0 }
  clients.on('message', counts => { last = counts })
  /** @type {[number, number][]} */
  const rss = []
  /** @type {[number, number][]} */
  const descriptors = []
  for (let i = 0; last.requests < requests || accounts.length < recycles; i++) {
    await Promise.all([fleet.recycle(i % 4), sleep(everyMs)])
    rss.push([i, process.memoryUsage.rss() / 1024])
    descriptors.push([i, fs.readdirSync('/proc/self/fd').length])
    if (process.stderr.isTTY) process.stderr.write(`\r${last.requests} requests, ${accounts.length} recycles `)
  }
  clients.send('stop')
  await new Promise(resolve => clients.once('exit', resolve))
  await fleet.stop()

  const drains = accounts.map(a => a.drainMs).sort((a, b) => a - b)
  const wrong = accounts.filter(a => a.cut > 0 || a.unacked > 0 || a.unaccounted > 0 || sumOfEnds(a) !== a.connections)
  const figures = {
    node: process.version,
    seconds: Math.round((Date.now() - began) / 1000),
    requests: last.requests,
    failed: last.failures.length,
    reconnects: last.sockets - CONNECTIONS,
    recycles: accounts.length,
    moved: accounts.reduce((total, a) => total + a.moved, 0),
    accountsThatDoNotAddUp: wrong.length,
    primary: { rssKibPerRecycle: slope(rss), descriptorsPerRecycle: slope(descriptors), rssMib: Math.round((rss.at(-1)?.[1] ?? 0) / 1024), descriptors: descriptors.at(-1)?.[1] },
    drainMs: { median: drains[drains.length >> 1], longest: drains.at(-1) }
  }
  console.log(JSON.stringify(figures, null, 2))
  for (const failure of last.failures.slice(0, 20)) console.error(failure)
  process.exitCode = figures.failed || figures.reconnects || wrong.length ? 1 : 0
}

/** By least squares, without the first quarter, in which a process grows into its work. @param {[number, number][]} points @returns {string} the slope and its standard error */
function slope (points) {
  const kept = points.slice(points.length >> 2)
  const mean = (/** @type {(point: [number, number]) => number} */ of) => kept.reduce((sum, point) => sum + of(point), 0) / kept.length
  const [x, y] = [mean(([x]) => x), mean(([, y]) => y)]
  const spread = mean(point => (point[0] - x) ** 2)
  const slope = mean(point => (point[0] - x) * (point[1] - y)) / spread
  const error = Math.sqrt(mean(point => (point[1] - y - slope * (point[0] - x)) ** 2) / (spread * (kept.length - 2)))
  return `${slope.toFixed(3)} ± ${error.toFixed(3)}`
}

/** @param {Record<string, any>[]} list @param {string} key */
function sum (list, key) {
  return list.reduce((total, item) => total + item[key], 0)
}
