'use strict'

/**
 * A model of workers that die one after the other of what one client sends: Node's parser and server, and what the
 * primary decides at each death. No response is ever begun.
 */

const http = require('node:http')
const { Duplex } = require('node:stream')
const fc = require('fast-check')
const { decide, readRequest } = require('../../../lib/features/failover/decision')
const { ENDED_BY_CLIENT } = require('../../../lib/features/failover/row')

const ESTABLISHED = 1
const MOST_WORKERS = 10

const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r', '\n\r')
const field = fc.constantFrom('Host: x', 'Content-Length: 2', 'Content-Length: 0', 'Transfer-Encoding: chunked', 'Upgrade: x', 'Connection: upgrade', 'Connection: close', 'Expect: 100-continue', 'Bad Header: x', ' folded', 'X: \u0000', '')
const head = fc.tuple(fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'CONNECT', 'QUERY', 'G', ''), fc.nat(3), fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''), fc.array(field, { maxLength: 4 }), lineEnd, fc.constantFrom(' ', '  '))
  .map(([method, n, version, fields, end, space]) => [`${method}${space}${method === 'CONNECT' ? 'a:1' : `/${n}`} ${version}`, ...fields, '', ''].join(end))
const piece = fc.oneof({ weight: 6, arbitrary: head }, fc.constantFrom('\r\n', '\n', 'ab', '0\r\n\r\n', '2\r\nab\r\n', 'GARBAGE\r\n', '\x16\x03\x01\x02\x00\x01\x00'), fc.string({ unit: 'binary', maxLength: 12 }))

/** What a client sends, in chunks; of which of it, and when, a worker dies; and how the primary is set. */
const story = fc.record({
  wire: fc.array(piece, { minLength: 1, maxLength: 4 }).map(pieces => pieces.join('')),
  cuts: fc.array(fc.nat(200), { maxLength: 5 }),
  diesOf: fc.constantFrom('request', 'clientError', 'upgrade', 'chunk', 'all'),
  isLenient: fc.boolean(),
  isReplaying: fc.boolean(),
  state: fc.constantFrom(ESTABLISHED, ESTABLISHED, ESTABLISHED, ENDED_BY_CLIENT)
})

/**
 * @param {any} story
 * @returns {{ deaths: number, handled: string[][] }} `deaths` of workers; `handled`: by each worker, the requests that
 *   its app was given
 */
function live ({ wire, cuts, diesOf, isLenient, isReplaying, state }) {
  const bytes = Buffer.from(wire, 'latin1')
  const within = cuts.filter((/** @type {number} */ at) => at > 0 && at < bytes.length)
  const ends = [...new Set([...within, bytes.length])].sort((a, b) => a - b)
  const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
  /** @type {string[][]} */
  const handled = []
  let [deaths, given, kernelRead, all] = [0, Buffer.alloc(0), 0, 0]
  while (handled.length < MOST_WORKERS) {
    const worker = startWorker(diesOf, isLenient)
    handled.push(worker.handled)
    const before = kernelRead - given.length
    if (given.length > 0) worker.read(given)
    while (!worker.isDead && chunks.length > 0) {
      const chunk = /** @type {Buffer} */ (chunks.shift())
      kernelRead += chunk.length
      given = Buffer.concat([given, chunk])
      worker.read(chunk)
    }
    if (!worker.isDead && diesOf !== 'all') break
    if (kernelRead > 0) all++
    const rest = { read: before, written: 0 }
    const { isSeen } = worker
    const noted = { serial: 1, deaths, isSeen, hasThrown: false, latest: rest, other: rest, kept: 0, place: 0 }
    const decision = decide(
      noted, { read: kernelRead, written: 0, state }, given.length > 0 ? readRequest(given) : null,
      { isStopping: false, isBlocking: false, isReplaying }
    )
    if (decision.end !== 'moved' && decision.end !== 'replayed') break
    deaths = decision.deaths
    given = decision.given ?? Buffer.alloc(0)
    if (diesOf === 'all' && given.length === 0 && chunks.length === 0) break // it is idle
  }
  return { deaths: all, handled }
}

/** @param {string} diesOf @param {boolean} isLenient */
function startWorker (diesOf, isLenient) {
  const server = http.createServer({ insecureHTTPParser: isLenient, requireHostHeader: false }) // else it answers
  const socket = new Duplex({ read () {}, write (chunk, encoding, done) { done() } })
  const worker = {
    /** @type {string[]} */
    handled: [],
    isSeen: false,
    isDead: false,
    /** @param {Buffer} chunk */
    read (chunk) {
      socket.emit('data', chunk)
      if (diesOf === 'chunk') worker.isDead = true
    }
  }
  const given = (/** @type {http.IncomingMessage} */ { method, url }) => {
    if (!worker.isDead) worker.handled.push(`${method} ${url}`)
  }
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, request => {
      worker.isSeen = true // as at the channel http.server.request.start
      given(request)
      if (diesOf === 'request') worker.isDead = true
    })
  }
  for (const event of ['upgrade', 'connect']) {
    server.on(event, request => {
      given(request)
      if (diesOf === 'upgrade') worker.isDead = true
    })
  }
  server.on('clientError', () => { if (diesOf === 'clientError') worker.isDead = true })
  socket.on('error', () => {})
  server.emit('connection', socket)
  return worker
}

/** @param {{ numRuns: number, seed: number }} how */
function assertBounded (how) {
  fc.assert(fc.property(story, story => {
    const { deaths, handled } = live(story)
    const unsafe = handled.flatMap(requests => [...new Set(requests)]).filter(request => !/^(GET|HEAD) /.test(request))
    return deaths <= 2 && new Set(unsafe).size === unsafe.length
  }), how)
}

module.exports = { assertBounded, live }
