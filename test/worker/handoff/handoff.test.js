'use strict'

const t = require('tap')
const { timeLeft } = require('../../../lib/worker/handoff/handoff')

const TIMEOUTS = { keepAliveTimeout: 5000, keepAliveTimeoutBuffer: 1000, headersTimeout: 60_000, requestTimeout: 300_000 }

/** @param {Record<string, any>} server @param {{ idleMs?: number, ageMs?: number }} how `idleMs`: since its last response */
function left (server, { idleMs, ageMs = 0 }) {
  const now = performance.now()
  return timeLeft(/** @type {any} */ ({
    idleSince: idleMs === undefined ? null : now - idleMs, since: now - ageMs, acceptor: { server: { ...TIMEOUTS, ...server } }
  }))
}

/** @param {any} t @param {number | null} value @param {number} meant milliseconds, less the duration of the test itself */
function isAbout (t, value, meant) {
  t.ok(value !== null && value <= meant && value > meant - 2000, `${value} of ${meant} ms`)
  t.ok(Number.isInteger(value))
}

t.test('after a response it is the rest of keepAliveTimeout, with the buffer that Node adds', async t => {
  isAbout(t, left({}, { idleMs: 0, ageMs: 100_000 }), 6000)
  isAbout(t, left({}, { idleMs: 2000, ageMs: 100_000 }), 4000)
  isAbout(t, left({ keepAliveTimeout: 120_000, headersTimeout: 2000 }, { idleMs: 5000 }), 116_000)
})

t.test('where Node does not expose its buffer, it is a second', async t => {
  isAbout(t, left({ keepAliveTimeoutBuffer: undefined }, { idleMs: 0 }), 6000)
  isAbout(t, left({ keepAliveTimeoutBuffer: 0 }, { idleMs: 0 }), 5000)
})

t.test('before the first request it is the rest of headersTimeout or requestTimeout, the shorter one', async t => {
  isAbout(t, left({}, { ageMs: 10_000 }), 50_000)
  isAbout(t, left({ requestTimeout: 20_000 }, { ageMs: 10_000 }), 10_000)
  isAbout(t, left({ headersTimeout: 0 }, { ageMs: 10_000 }), 290_000)
})

t.test('a server without these timeouts sets no limit', async t => {
  t.equal(left({ keepAliveTimeout: 0 }, { idleMs: 1e6 }), null)
  t.equal(left({ headersTimeout: 0, requestTimeout: 0 }, { ageMs: 1e6 }), null)
})

t.test('time that has run out is one millisecond, not zero', async t => {
  t.equal(left({}, { ageMs: 600_000 }), 1)
})

t.test('a connection open beyond its time after the last response has it again: Node counts from the last byte', async t => {
  t.equal(left({}, { idleMs: 60_000 }), left({}, { idleMs: 0 }))
})
