'use strict'

/** Text from a fleet is printed without control characters, by every command. */

const fs = require('node:fs')
const net = require('node:net')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')
const { controlRoom } = require('../support/control')

const EVIL = 'a\u001b]0;owned\u0007\r\u0085\u009b2J\u202eb'
const OBEYED = /[\p{Cc}\p{Bidi_Control}]/u

const WORKER = {
  slot: EVIL,
  pid: EVIL,
  state: EVIL,
  ageMs: 1,
  rssBytes: 1,
  budgetBytes: null,
  pssBytes: 1,
  ussBytes: 1,
  cpuPercent: EVIL,
  elu: 0,
  connections: EVIL,
  inFlight: 1,
  requests: EVIL,
  recycles: 1,
  lastReason: EVIL
}
const EVENTS = [
  { event: 'worker.request', slot: EVIL, pid: 1, reason: EVIL }, { event: EVIL }, { event: 'fleet.failed', error: EVIL },
  { event: 'fleet.warning', warning: EVIL }, { event: 'fleet.start' }, { event: 'toString' }, { event: '__proto__' }
].map(line => ({ v: 1, t: 0, ...line }))

/** A server that sends the greeting of a fleet with hostile text in it. @param {any} t tap's @param {string} folder */
async function startLiar (t, folder) {
  fs.mkdirSync(folder, { mode: 0o700 })
  const server = net.createServer(socket => {
    const say = (/** @type {any} */ message) => socket.write(`${JSON.stringify({ v: 1, ...message })}\n`)
    say({ hello: { name: EVIL, pid: EVIL, app: EVIL, version: EVIL } })
    socket.on('error', () => {}).on('data', chunk => {
      for (const text of String(chunk).trim().split('\n')) {
        const { id, verb } = JSON.parse(text)
        if (verb === 'status') say({ id, result: { v: 1, name: EVIL, pid: EVIL, app: EVIL, workers: [WORKER], totals: { workers: EVIL, ready: EVIL, recycles: EVIL } } })
        if (verb === 'follow') EVENTS.forEach(event => say({ id, event }))
        if (verb === 'follow') say({ id, result: null })
        if (verb === 'recycle') say({ id, progress: { done: 1, of: 1, line: EVENTS[0] } })
        if (verb === 'recycle') say({ id, result: { done: [], failed: [{ slot: EVIL, code: EVIL, message: EVIL }] } })
        if (verb === 'heapdump') say({ id, result: { slot: EVIL, pid: EVIL, bytes: 1, pauseMs: 1, moved: EVIL, file: EVIL } })
        if (verb === 'gc') say({ id, error: { code: EVIL, message: EVIL } })
      }
    })
  }).listen(path.join(folder, 'liar.sock'))
  t.teardown(() => server.close())
  await once(server, 'listening')
}

t.test('control characters in names, states and events of a fleet never reach the terminal', async t => {
  const { folder, recycle } = controlRoom(t)
  await startLiar(t, folder)
  for (const [args, exitCode] of /** @type {[string[], number][]} */ ([[['ls'], 0], [['status'], 0], [['tail'], 0], [['recycle', '0'], 1], [['heapdump', '0'], 0], [['gc', '0'], 1], [['status', 'nobody'], 2]])) {
    const { code, stdout, stderr } = await recycle(args)
    t.equal(code, exitCode, args.join(' '))
    t.match(stdout + stderr, 'a\\u{1b}]0;owned\\u{7}\\u{d}\\u{85}\\u{9b}2J\\u{202e}b')
    t.notMatch((stdout + stderr).replaceAll('\n', ''), OBEYED, args.join(' '))
    t.notMatch(stderr, /^ +at /m, 'no stack trace')
  }
})

t.test('JSON has the same text, with these characters escaped', async t => {
  const { folder, recycle } = controlRoom(t)
  await startLiar(t, folder)
  for (const verb of ['ls', 'status', 'tail']) {
    const { stdout } = await recycle([verb, '--json'])
    t.notMatch(stdout.replaceAll('\n', ''), OBEYED, verb)
    t.ok(stdout.trim().split('\n').some(line => JSON.stringify(JSON.parse(line)).includes(JSON.stringify(EVIL).slice(1, -1))))
  }
})
