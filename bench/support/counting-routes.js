'use strict'

// `node counting-routes.js <with|without> <seconds> <url> [pattern]`: has a worker's connection tracker see requests
// that begin and end, with or without counting them by route, and prints the CPU time of each, in microseconds.
const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const net = require('node:net')
const { ConnectionTracker } = require('../../lib/worker/connections/tracker')
const { RouteCounter } = require('../../lib/features/leaks/worker')

const [, , how, seconds, url, pattern] = process.argv
const BATCH = 500 // requests in a turn of the event loop

const tracker = new ConnectionTracker()
const counter = how === 'with' ? new RouteCounter(tracker) : null
const server = new EventEmitter()
tracker.watch(/** @type {any} */ ({ server, isOfOurs: () => true }))
const socket = new net.Socket()
server.emit('connection', socket)
const begin = diagnostics.channel('http.server.request.start')
const end = diagnostics.channel('http.server.response.finish')
let serial = 0

function batch () {
  for (let i = 0; i < BATCH; i++) {
    const request = { method: 'GET', url: Buffer.from(url.replace('#', String(serial++ % 1e6)), 'latin1').toString('latin1'), route: pattern && { path: pattern }, baseUrl: pattern && '', httpVersion: '1.1', rawHeaders: [] }
    const response = { statusCode: 200, req: request }
    begin.publish({ request, response, socket, server })
    end.publish({ request, response, socket, server })
  }
}

/** @param {number} seconds @returns {Promise<number>} microseconds of a request */
async function run (seconds) {
  let requests = 0
  const before = process.cpuUsage()
  for (const until = performance.now() + 1000 * seconds; performance.now() < until; requests += BATCH) {
    batch()
    await new Promise(resolve => setImmediate(resolve)) // what the tracker has put off to the next tick runs
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

run(Number(seconds) / 4).then(() => run(Number(seconds))).then(us => {
  const counted = counter === null ? 0 : counter.counts[1]
  if (tracker.requests.inFlight !== 0 || (counter !== null && counted !== tracker.requests.begun)) throw new Error(`${counted} of ${tracker.requests.begun} requests were counted, ${tracker.requests.inFlight} are in flight`)
  console.log(us)
})
