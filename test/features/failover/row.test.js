'use strict'

const fc = require('fast-check')
const t = require('tap')
const { CLOSES, bytesOf, fateOf, headAt, parseHead, placeOf, printHead, readRow, HEADS, ROW_BYTES, SERIAL, LATEST, STATES, READ, WRITTEN, HEAD } = require('../../../lib/features/failover/row')

const ESTABLISHED = 1
const rest = (read, written, head = 0) => ({ read, written, head })
const row = (latest, other = latest, replayed = 0) => ({ serial: 1, replayed, latest, other })
const counted = (read, written, state = ESTABLISHED) => ({ read, written, state })

t.test('a connection of which the kernel has counted what was noted is idle, by either state', async t => {
  t.equal(fateOf(row(rest(100, 50)), counted(100, 50), null), 'idle')
  t.equal(fateOf(row(rest(100, 50), rest(200, 90)), counted(200, 90), null), 'idle', 'the last write was announced')
})

t.test('more read and nothing written: a request that was not answered', async t => {
  t.equal(fateOf(row(rest(100, 50), rest(0, 0)), counted(180, 50), null), 'unanswered')
  t.equal(fateOf(row(rest(NaN, 50), rest(0, 0)), counted(180, 50), null), 'unanswered', 'it was in the middle of one')
})

t.test('more written: a response has begun', async t => {
  t.equal(fateOf(row(rest(100, 50), rest(0, 0)), counted(180, 60), null), 'begun')
  t.equal(fateOf(row(rest(100, 50), rest(180, 90)), counted(180, 60), null), 'begun', 'a part of the last write')
})

t.test('less read than was noted makes no sense', async t => {
  t.equal(fateOf(row(rest(100, 50)), counted(90, 50), null), 'begun')
})

t.test('closed by the client, or by the worker', async t => {
  for (const state of [2, 3, 4, 5, 6, 7, 9, 10, 11]) t.equal(fateOf(row(rest(100, 50)), counted(100, 50, state), null), 'ended')
  t.equal(fateOf(row(rest(100, 50)), counted(100, 50, 8), null), 'ended', 'idle, and the client has closed its half')
  t.equal(fateOf(row(rest(100, 50)), counted(180, 50, 8), null), 'unanswered', 'it waits for the answer')
  t.equal(fateOf(row(rest(100, 50), rest(NaN, 90, CLOSES)), counted(180, 90), null), 'ended', 'the last write was to end it')
  t.equal(fateOf(row(rest(100, 50), rest(NaN, 90, CLOSES)), counted(180, 80), null), 'begun', 'a part of it')
})

t.test('answered while its head was being parsed: idle if nothing but the head was read, and no body belongs to it', async t => {
  const answered = row(rest(100, 50, 7), rest(NaN, 90))
  t.equal(fateOf(answered, counted(180, 90), { length: 80, isBodyless: true }), 'idle')
  t.equal(fateOf(answered, counted(180, 90), { length: 80, isBodyless: false }), 'begun')
  t.equal(fateOf(answered, counted(181, 90), { length: 80, isBodyless: true }), 'begun', 'a part of the next one was read')
  t.equal(fateOf(answered, counted(180, 90), null), 'begun')
  t.equal(fateOf(answered, counted(180, 50), { length: 80, isBodyless: true }), 'unanswered')
})

t.test("the end of the client's half counts as a byte for the kernel", async t => {
  t.same(bytesOf([101, 50, 0, 8]), { read: 100, written: 50, state: 8 })
  t.same(bytesOf([101, 50, 0, 1]), { read: 101, written: 50, state: 1 })
})

t.test('a row is read as it was written', async t => {
  const numbers = new Float64Array(ROW_BYTES / 8)
  numbers[SERIAL] = 12
  numbers[LATEST] = 2 * 1 + 1
  for (const [i, from] of STATES.entries()) [numbers[from + READ], numbers[from + WRITTEN], numbers[from + HEAD]] = [10 + i, 20 + i, 30 + i]
  t.same(readRow(new DataView(numbers.buffer), 0), { serial: 12, replayed: 1, latest: rest(11, 21, 31), other: rest(10, 20, 30) })
})

t.test('a head comes back as it was', async t => {
  for (const headers of [[], ['Host', 'x'], ['Host', 'x', 'X-Empty', '', 'x-empty', 'y']]) {
    const head = { method: 'GET', url: '/a?b', version: '1.1', headers }
    t.same(parseHead(printHead(head)), head)
  }
  for (const text of ['', 'GET', 'GET /', 'GET / 1.1 x\n', 'GET / 1.1\na', 'GET / 1.1\na\nb\nc']) t.equal(parseHead(text), null, JSON.stringify(text))
})

t.test('whatever is in that memory, there is an answer, and a place in it', async t => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, -1, 0, Infinity, Number.MAX_SAFE_INTEGER))
  fc.assert(fc.property(fc.array(number, { minLength: 8, maxLength: 8 }), number, number, fc.integer({ min: 0, max: 12 }), (numbers, read, written, state) => {
    const read_ = readRow(new DataView(new Float64Array(numbers).buffer), 0)
    const place = placeOf(read_.latest.head)
    return ['ended', 'idle', 'unanswered', 'begun'].includes(fateOf(read_, counted(read, written, state), null)) && (place === null || (place.offset >= HEADS[0].from && place.length < 2 ** 15))
  }))
  t.same(placeOf(headAt(HEADS[1].from, 500)), { offset: HEADS[1].from, length: 500 })
  for (const head of [0, NaN, CLOSES, headAt(0, 500), headAt(HEADS[0].from, 8), headAt(2 ** 40, 500), 1.5]) t.equal(placeOf(head), null, String(head))
})
