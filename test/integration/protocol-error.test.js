'use strict'

const fs = require('node:fs')
const http = require('node:http')
const t = require('tap')
const { startFleet } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue } = require('../support/processes')

const BEAT = { type: 'beat', requests: 1, inFlight: 0, connections: 1, lasting: 0, streams: 0, elu: 0.5, cpuUs: 0, movable: 0, loopLagMs: 1, heap: null, lagP99Ms: null, inspectorPort: null, flexible: true, ceiling: null }
const GC = { scavenges: { count: 0, totalMs: 0, longestMs: 0 }, markSweeps: { count: 0, totalMs: 0, longestMs: 0 } }

/**
 * Each of these once ended the primary, or corrupted its journal.
 *
 * @type {[path: string, message: Record<string, any>, flaw: RegExp][]}
 */
const MESSAGES = [
  ['/', { type: 'beat' }, /^its requests must be/],
  ['/', BEAT, /^its gc must be an object/],
  ['/', { ...BEAT, gc: { ...GC, markSweeps: null } }, /^its gc\.markSweeps must be/],
  ['/', { ...BEAT, gc: GC, connections: 'many' }, /^its connections must be/],
  ['/', { type: 'listen' }, /^its id must be/],
  ['/', { type: 'listen', id: 1, key: 'x', query: 'y' }, /^its query must be an object/],
  ['/', { type: 'listen', id: 1, key: 'x', query: { address: {}, port: 80, addressType: 4 } }, /^its query\.address must be/],
  ['/', { type: 'requested', reason: { toString: 1 } }, /^its reason must be/],
  ['/', { type: 'drained', account: { cut: 'NaN' } }, /^its account\.\w+ must be/],
  ['/', { type: 'answer', id: 'id', why: null }, /^its id must be/],
  ['/', { type: 'move', id: 1, parcel: { key: 5, leftMs: null } }, /^its parcel\.key must be/],
  ['/', { type: '__proto__' }, /^there is no message of this type/],
  ['/', { type: 'constructor' }, /^there is no message of this type/],
  ['/', { type: { length: 1 } }, /^there is no message of this type/],
  ['/socket', { type: 'move', id: 1, parcel: { key: 'x', leftMs: null } }, /^its handle must be a TCP or pipe handle/],
  ['/server', { type: 'move', id: 1, parcel: { key: 'x', leftMs: null } }, /^its handle must be a TCP or pipe handle/],
  ['/udp', { type: 'move', id: 1, parcel: { key: 'x', leftMs: null } }, /^its handle must be a TCP or pipe handle/],
  ['/server', { type: 'full', isAtCeiling: true }, /^it must come without a handle/]
]

// A few to a fleet: the workers of a slot that send them again and again are replaced ever more slowly.
for (let from = 0; from < MESSAGES.length; from += 6) {
  const messages = MESSAGES.slice(from, from + 6)
  t.test(`a worker whose app sends a message that breaks the protocol is named and replaced, without other effects (${from} on)`, async t => {
    const { port, events, supervisor } = await startFleet(t, 'sends-bad-messages.js', { workers: 2, maxSurge: 2, drainTimeout: '2s' })
    const descriptors = () => fs.readdirSync('/proc/self/fd').length
    await send(port, ...messages[0])
    await events.until('recycled')
    const before = descriptors()
    for (const [i, [path, message, flaw]] of messages.slice(1).entries()) {
      const count = i + 2
      const pid = await send(port, path, message)
      const line = await events.until('worker.protocol-error', { count })
      t.match(line, { pid, flaw }, `${JSON.stringify(message)} at ${path}`)
      t.match(await events.until('recycled', { where: l => l.oldPid === pid }), { reason: 'protocol-error', lost: false })
    }
    t.equal(events.all('worker.protocol-error').length, messages.length, 'it is reported once per worker, however many messages it sends')
    t.equal(events.all('worker.crash').length, 0)
    t.equal(events.all('recycled').length, messages.length, 'the other workers stay')
    t.match(await get(port), { status: 200 })
    t.equal(supervisor.status().totals.ready, 2)
    t.ok(await becomesTrue(() => descriptors() <= before + 4), 'a handle that comes with such a message is closed')
  })
}

/**
 * @param {number} port @param {string} path @param {Record<string, any>} message
 * @returns {Promise<number>} the worker's pid
 */
function send (port, path, message) {
  return new Promise((resolve, reject) => {
    http.request({ host: '127.0.0.1', port, path, method: 'POST', agent: false }, async response => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve(Number(body))
    }).on('error', reject).end(JSON.stringify(message))
  })
}
