'use strict'

const fc = require('fast-check')
const t = require('tap')
const {
  ANSWERED, CLOSES, UNKNOWN, fateOf, mayBeUpgrade, parseHead, placesOf, readRow, readSpill,
  PLACES, SPILL, PREFIX_BYTES, ROW_BYTES, SERIAL, FLAGS, LATEST, THREW, DEATH, STATES, KEPT, PLACE
} = require('../../../lib/features/failover/row')

const ESTABLISHED = 1
const rest = (read, written) => ({ read, written })
const row = (latest, other = latest, kept = 0) => ({
  serial: 1, deaths: 0, isSeen: false, hasThrown: false, latest, other, kept, place: 0
})
const counted = (read, written, state = ESTABLISHED) => ({ read, written, state })

t.test('a connection of which the kernel has counted what was noted is idle, by either state', async t => {
  t.equal(fateOf(row(rest(100, 50)), counted(100, 50), false), 'idle')
  t.equal(fateOf(row(rest(100, 50), rest(200, 90)), counted(200, 90), false), 'idle', 'the last write was announced')
})

t.test('more read and nothing written: a request that was not answered', async t => {
  t.equal(fateOf(row(rest(100, 50), rest(0, 0)), counted(180, 50), false), 'unanswered')
  t.equal(fateOf(row(rest(UNKNOWN, 50), rest(0, 0)), counted(180, 50), false), 'unanswered', 'it was in the middle of one')
})

t.test('more written: a response has begun', async t => {
  t.equal(fateOf(row(rest(100, 50), rest(0, 0)), counted(180, 60), false), 'begun')
  t.equal(fateOf(row(rest(100, 50), rest(180, 90)), counted(180, 60), false), 'begun', 'a part of the last write')
})

t.test('less read than was noted makes no sense', async t => {
  t.equal(fateOf(row(rest(100, 50)), counted(90, 50), false), 'begun')
})

t.test('closed by the client, or by the worker', async t => {
  for (const state of [2, 3, 4, 5, 6, 7, 9, 10, 11]) t.equal(fateOf(row(rest(100, 50)), counted(100, 50, state), false), 'ended')
  t.equal(fateOf(row(rest(100, 50)), counted(100, 50, 8), false), 'ended', 'idle, and the client has closed its half')
  t.equal(fateOf(row(rest(100, 50)), counted(180, 50, 8), false), 'unanswered', 'it waits for the answer')
  t.equal(fateOf(row(rest(100, 50), rest(CLOSES, 90)), counted(180, 90), false), 'ended', 'the last write was to end it')
  t.equal(fateOf(row(rest(100, 50), rest(CLOSES, 90)), counted(180, 80), false), 'begun', 'a part of it')
})

t.test('answered while its head was being parsed: idle if nothing but a whole request was read', async t => {
  const answered = row(rest(100, 50), rest(ANSWERED, 90), 80)
  t.equal(fateOf(answered, counted(180, 90), true), 'idle')
  t.equal(fateOf(answered, counted(180, 90), false), 'answered', 'the rest of it was to come')
  const more = row(rest(100, 50), rest(ANSWERED, 90), -80)
  t.equal(fateOf(more, counted(181, 90), true), 'answered', 'more was read than is kept')
  t.equal(fateOf(answered, counted(180, 50), true), 'unanswered')
})

t.test('answered before all of its body was read: over, until the rest has come', async t => {
  t.equal(fateOf(row(rest(ANSWERED, 90), rest(100, 50)), counted(180, 90), false), 'answered')
  t.equal(fateOf(row(rest(180, 90), rest(ANSWERED, 90)), counted(180, 90), false), 'idle', 'it has')
  t.equal(fateOf(row(rest(180, 90), rest(ANSWERED, 90)), counted(260, 90), false), 'unanswered', 'and the next request, too')
})

t.test('a row is read as it was written', async t => {
  const numbers = new Float64Array(ROW_BYTES / 8)
  numbers[SERIAL] = 12
  numbers[FLAGS] = LATEST + THREW + DEATH
  numbers[KEPT] = 30
  numbers[PLACE] = 40
  for (const [i, from] of STATES.entries()) [numbers[from], numbers[from + 1]] = [10 + i, 20 + i]
  t.same(readRow(new DataView(numbers.buffer), 0), {
    ...row(rest(11, 21), rest(10, 20), 30), serial: 12, deaths: 1, hasThrown: true, place: 40
  })
})

t.test('a head is read as the client sent it; a part of one is none', async t => {
  const text = 'GET /a?b HTTP/1.1\r\nHost:x\r\nX-Empty:\r\nX:  y: z \r\n\r\n'
  t.same(parseHead(`${text}more`), { head: { method: 'GET', url: '/a?b', version: '1.1', headers: ['Host', 'x', 'X-Empty', '', 'X', 'y: z'] }, length: text.length })
  t.same(parseHead('\r\nGET / HTTP/1.0\r\n\r\n'), { head: { method: 'GET', url: '/', version: '1.0', headers: [] }, length: 20 })
  for (let i = 0; i < text.length; i++) t.equal(parseHead(text.slice(0, i)), null)
  const bare = 'GET / HTTP/1.1\nHost: x\n\n'
  t.same(parseHead(bare), { head: { method: 'GET', url: '/', version: '1.1', headers: ['Host', 'x'] }, length: bare.length }, 'bare LF, for a lenient parser')
  t.equal(parseHead(`${text}\r\n\r\n`).length, text.length + 4, 'with the empty lines behind it')
  for (const bad of ['GET / HTTP/2\r\n\r\n', 'GET  / HTTP/1.1\r\n\r\n', '\r\n\r\n', 'x\r\n\r\n']) t.equal(parseHead(bad), null, JSON.stringify(bad))
})

t.test('an upgrade may have been given to the app though nothing was noted', async t => {
  for (const text of ['GET / HTTP/1.1\r\nUpgrade: x\r\n\r\n', 'CONNECT a:1 HTTP/1.1\nHost: a\n\n', '\r\nGET / HTTP/1.1\rupgrade:x\r\r']) t.equal(mayBeUpgrade(text), true, text)
  for (const text of ['GET / HTTP/1.1\r\nUpgrade: x\r\n\r', '\r\n\r\nCONNECT a:1 HTTP/1.1\r\n', 'POST / HTTP/1.1\r\n\r\n']) t.equal(mayBeUpgrade(text), false, text)
})

t.test('whatever is in that memory, there is an answer, and a place in it', async t => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, -1, 0, Infinity, Number.MAX_SAFE_INTEGER))
  const spilt = fc.tuple(fc.oneof(number, fc.constant(NaN)), number, fc.boolean())
  fc.assert(fc.property(fc.array(number, { minLength: 8, maxLength: 8 }), number, number,
    fc.integer({ min: 0, max: 12 }), fc.boolean(), spilt,
    (numbers, read, written, state, isWhole, [other, at, isOf]) => {
      const row = readRow(new DataView(new Float64Array(numbers).buffer), 0)
      const spill = readSpill(new DataView(new Float64Array([isOf ? numbers[SERIAL] : other, at]).buffer))
      const [first, second] = placesOf(row, counted(read, written, state), spill) ?? []
      const isWithin = first === undefined || (first.offset >= PLACES[0].from && first.length > PREFIX_BYTES &&
      first.length <= PLACES[1].bytes && first.offset + first.length <= SPILL.from)
      const isSpillWithin = second === undefined ||
      (second.length > 0 && second.offset > SPILL.from && second.offset + second.length <= SPILL.from + SPILL.bytes)
      return ['ended', 'idle', 'answered', 'unanswered', 'begun'].includes(fateOf(row, counted(read, written, state), isWhole)) && isWithin && isSpillWithin
    }))
})

t.test('what is kept of a request, and where', async t => {
  const place = (kept, at, read = 100) => placesOf(
    { ...row(rest(100, 50), undefined, kept), place: at }, counted(read, 50), { serial: 0, at: 0 }
  )?.[0] ?? null
  t.same(place(500, PLACES[1].from), { offset: PLACES[1].from, length: 508 })
  t.same(place(-500, PLACES[0].from), { offset: PLACES[0].from, length: 508 }, 'the beginning')
  t.same(place(500, PLACES[0].from, 900), { offset: PLACES[0].from, length: 808 }, 'it died as it read: the kernel has counted what it has put there')
  t.same(place(0, PLACES[0].from, 900), { offset: PLACES[0].from, length: 808 })
  t.equal(place(0, PLACES[0].from, 1200), null, 'more than there is room for')
  t.same(place(-500, PLACES[0].from, 900), { offset: PLACES[0].from, length: 508 })
  t.equal(place(0, 0, 900), null, 'there is no place')
  for (const [kept, at] of [[0, PLACES[0].from], [-17_000, PLACES[0].from], [500, 0], [500, NaN], [
    500, 2 ** 40
  ], [17_000, PLACES[0].from], [1.5, PLACES[0].from]]) t.equal(place(kept, at), null)
})

t.test('what the place had no room for is in the spill, until it is in a larger place', async t => {
  const of = { ...row(rest(100, 50)), serial: 7 }
  const places = (place, read, spill, kept = 0) => placesOf({ ...of, kept, place }, counted(read, 50), spill)
  const small = PLACES[0].from
  t.same(places(small, 100 + 3000, { serial: 7, at: 1016 }), [{ offset: small, length: 1024 }, { offset: SPILL.from + 16, length: 1984 }], 'it died as it was read')
  t.same(places(PLACES[1].from, 100 + 3000, { serial: 7, at: 1016 }), [{ offset: PLACES[1].from, length: 1024 }, { offset: SPILL.from + 16, length: 1984 }], 'or copied')
  t.same(places(PLACES[1].from, 100 + 3000, { serial: 7, at: 1016 }, 3000), [
    { offset: PLACES[1].from, length: 1024 }, { offset: SPILL.from + 16, length: 1984 }
  ])
  t.same(places(small, 100 + 1016, { serial: 7, at: 1016 }), [{ offset: small, length: 1024 }], 'it had room for all')
  t.equal(places(small, 100 + 3000, { serial: 8, at: 1016 }), null, "another connection's")
  t.equal(places(small, 100 + 20_000, { serial: 7, at: 1016 }), null, 'more than the spill has room for')
})
