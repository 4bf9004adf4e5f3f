'use strict'

const t = require('tap')
const { assertBounded, live } = require('./given-on')
const { decide, readRequest } = require('../../../lib/features/failover/decision')

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'
const HOW = { isStopping: false, isBlocking: false, isReplaying: true }

/** What becomes of a connection with these bytes read, and nothing written. */
function endOf (text, row = {}, how = {}) {
  const rest = { read: 100, written: 50 }
  const noted = { serial: 1, deaths: 0, isSeen: true, hasThrown: false, latest: rest, other: rest, place: 0 }
  return decide(
    { ...noted, kept: text.length, ...row },
    { read: 100 + text.length, written: 50, state: 1 }, readRequest(Buffer.from(text)), { ...HOW, ...how }
  ).end
}

t.test('a request that the app was given is replayed where it may be handled twice, and once', async t => {
  t.equal(endOf(GET), 'replayed')
  t.equal(endOf(`${GET}\r\n`), 'replayed', 'an empty line behind it')
  t.equal(endOf(GET.replaceAll('\r', '')), 'replayed', 'bare LF')
  for (const text of [POST, POST.replaceAll('\r', ''), GET + GET, `${GET}G`]) t.equal(endOf(text), 'answered', text)
  for (const row of [{ deaths: 1 }, { hasThrown: true }]) t.equal(endOf(GET, row), 'answered')
  for (const how of [{ isStopping: true }, { isBlocking: true }, { isReplaying: false }]) t.equal(endOf(GET, {}, how), 'answered')
})

t.test('what the app has not seen goes on with the connection, whatever it is, and once', async t => {
  for (const text of [GET, POST, 'GARBAGE\r\n', 'GET / HT', '\x16\x03\x01', POST.replaceAll('\r', '')]) {
    t.equal(endOf(text, { isSeen: false }), 'moved', text)
    t.equal(endOf(text, { isSeen: false }, { isReplaying: false }), 'moved', text)
    t.equal(endOf(text, { isSeen: false, deaths: 1 }), 'answered', text)
  }
  for (const text of ['POST / HTTP/1.1\r\nUpgrade: x\r\n\r\n', 'CONNECT a:1 HTTP/1.1\n\rHost']) {
    t.equal(endOf(text, { isSeen: false }), 'answered', 'of an upgrade nothing is noted')
  }
})

t.test('where no worker follows an idle connection is closed, and a request that has come is answered', async t => {
  const rest = { read: 100, written: 50 }
  const row = { serial: 1, deaths: 0, isSeen: true, hasThrown: false, latest: rest, other: rest, place: 0, kept: 0 }
  const end = (unread, isStopping) => decide(row, { ...rest, unread, state: 1 }, null, { ...HOW, isStopping }).end
  t.same([end(0, true), end(40, true), end(0, false), end(40, false)], ['closed', 'answered', 'moved', 'moved'])
})

t.test('ends of lines alone are no request: the connection moves as an idle one does, and closes at the second death', async t => {
  t.equal(endOf('\r\n', { isSeen: false }), 'moved')
  t.equal(endOf('\r\n', { isSeen: false, deaths: 1 }), 'closed')
  t.equal(endOf('\r\n', { isSeen: false }, { isStopping: true }), 'closed', 'nothing is answered')
  t.equal(live({ wire: '\r\n'.repeat(4), cuts: [2, 4, 6], diesOf: 'chunk', isLenient: false, isReplaying: true, state: 1 }).deaths, 2)
})

t.test('no bytes, split anywhere, cost more than two workers, and none have an unsafe request handled twice', async t => {
  assertBounded({ numRuns: 300, seed: 66 })
  t.equal(live({ wire: 'GARBAGE\r\n', cuts: [3], diesOf: 'clientError', isLenient: false, isReplaying: true, state: 1 }).deaths, 2, 'they do cost two')
  t.same(live({ wire: GET, cuts: [], diesOf: 'request', isLenient: false, isReplaying: true, state: 1 }).handled, [['GET /'], ['GET /']])
})
