'use strict'

const t = require('tap')
const { judge, worst } = require('../../../lib/features/leak-line/outcome')
const { sentencesOf, sentenceOf, statusLines } = require('../../../lib/features/leak-line/sentence')

const MIB = 1024 ** 2
const AT = { name: 'remember', file: '/srv/app.js', line: 4, column: 1, kind: /** @type {const} */ ('app') }

/** @param {number} requests @param {Partial<import('../../../lib/features/leak-line/outcome').Usage>} [more] */
const usage = (requests, more) => ({
  atMs: 0,
  requests,
  rssBytes: 80 * MIB,
  heapTotalBytes: 20 * MIB,
  heapUsedBytes: 10 * MIB,
  externalBytes: 2 * MIB,
  pauseMs: 50,
  ...more
})
/** @param {number} bytes @param {number} samples */
const estimate = (bytes, samples) => ({ bytes, low: samples >= 3 ? 0.8 * bytes : -1, high: 1.2 * bytes, samples })
/**
 * @param {number[]} halves @param {number[]} [samples]
 * @param {Partial<import('../../../lib/features/leak-line/growth').Row>} [more]
 * @returns {import('../../../lib/features/leak-line/growth').Row}
 */
const row = ([a, b], [m, n] = [50, 50], more) => ({
  ...estimate(a + b, m + n), at: AT, callers: [], by: null, halves: [estimate(a, m), estimate(b, n)], ...more
})
/** @param {import('../../../lib/features/leak-line/growth').Row[]} rows */
const growth = rows => ({
  total: estimate(rows.reduce((sum, { bytes }) => sum + bytes, 0), 100), halves: [], rows, tree: []
})
const READINGS = [usage(1000), usage(2000), usage(3000)]

t.test('a function that grows in both halves leaks', async t => {
  const outcome = judge({ readings: READINGS, growth: growth([row([MIB, MIB])]) })
  t.match(outcome, { verdict: 'grows', requests: 2000, outside: null, found: [{ at: { name: 'remember', file: '/srv/app.js', line: 4 }, isGrowing: true, isSure: true, share: 1, bytesPerRequest: 1048.576 }] })
  t.equal(worst(outcome), outcome.found[0])
  t.same(sentencesOf({ ...outcome, why: null, tookMs: 5 }, '/srv'), ['remember app.js:4 leaks: it keeps 1 KiB of each request (839 B to 1.2 KiB), 100 % of the growth in 2,000 requests'])
})

t.test('a cache that fills up grows less in the second half; by requests, not by time', async t => {
  const outcome = judge({ readings: READINGS, growth: growth([row([MIB, 0.1 * MIB])]) })
  t.equal(outcome.verdict, 'fills')
  t.equal(worst(outcome), null)
  t.match(sentencesOf({ ...outcome, why: null, tookMs: 5 }), [/^no leak was found in 2,000 requests: one of more than /, 'remember /srv/app.js:4 grew by 1 MiB in the first half and by 102 KiB in the second: a cache that fills up'])
  const slower = [usage(1000), usage(2900), usage(3000)]
  t.equal(judge({ readings: slower, growth: growth([row([19 * MIB, MIB])]) }).verdict, 'grows')
})

t.test('where no reading divides the requests, a cache is not told from a leak, and that is said', async t => {
  const outcome = judge({
    readings: [usage(10), usage(500), usage(520)], growth: growth([{ ...row([MIB, MIB]), halves: [] }])
  })
  t.equal(outcome.verdict, 'grows')
  t.match(sentencesOf({ ...outcome, why: null, tookMs: 5 }), [/leaks/, /^no reading in between/])
})

t.test('a leak is named beside a cache', async t => {
  const leak = row([MIB, MIB], [50, 50], { at: { ...AT, name: 'leak' } })
  const outcome = judge({ readings: READINGS, growth: growth([row([5 * MIB, 0]), leak]) })
  t.equal(outcome.verdict, 'grows')
  t.equal(worst(outcome)?.at.name, 'leak')
  t.match(sentencesOf({ ...outcome, why: null, tookMs: 5 }), [/^leak .* 29 % of the growth/, /a cache that fills up$/])
})

t.test('too few samples, in all or in the second half, are no leak', async t => {
  t.equal(judge({ readings: READINGS, growth: growth([row([MIB, MIB], [2, 2])]) }).verdict, 'none')
  t.equal(judge({ readings: READINGS, growth: growth([row([100_000, 100_000])]) }).verdict, 'none', 'too little')
  t.equal(judge({ readings: READINGS, growth: growth([row([MIB, MIB], [50, 2])]) }).verdict, 'fills')
})

t.test('nothing, and what would have been found', async t => {
  const outcome = judge({ readings: READINGS, growth: growth([]) })
  t.equal(outcome.verdict, 'none')
  t.match(sentencesOf({ ...outcome, why: null, tookMs: 5 }), ['no leak was found in 2,000 requests: one of more than 131 B a request would have been'])
})

t.test('too few requests, and too few readings', async t => {
  const few = judge({ readings: [usage(10), usage(50), usage(99)], growth: growth([row([MIB, MIB])]) })
  t.equal(few.verdict, 'few')
  t.match(sentencesOf({ ...few, why: null, tookMs: 5 }), ['89 requests between the first reading and the last are too few to say: at least 100'])
  for (const readings of [[], [usage(5)]]) t.equal(judge({ readings, growth: null }).verdict, 'unread')
  t.match(sentencesOf({ ...judge({ readings: [], growth: null }), why: 'its worker has ended', tookMs: 4000 }), ['the study ended after 4s: its worker has ended', /^there are not two readings/])
})

t.test('growth outside the heap: Buffers, and native memory', async t => {
  const buffers = [10, 20, 30].map((mib, i) =>
    usage(1000 * (i + 1), { externalBytes: mib * MIB, rssBytes: (70 + mib) * MIB }))
  const outcome = judge({ readings: buffers, growth: growth([]) })
  t.match(outcome, { verdict: 'outside', outside: { externalBytes: 20 * MIB, nativeBytes: 0 } })
  t.match(sentencesOf({ ...outcome, why: null, tookMs: 5 }), ["no leak was found in V8's heap in 2,000 requests", /^growth outside V8's heap: 20 MiB in Buffers .*, 10\.2 KiB a request/])
  const native = [0, 20, 40].map((mib, i) => usage(1000 * (i + 1), { rssBytes: (80 + mib) * MIB }))
  t.match(judge({ readings: native, growth: growth([]) }), { verdict: 'outside', outside: { externalBytes: 0, nativeBytes: 40 * MIB } })
  t.equal(judge({ readings: [buffers[0], buffers[2], { ...buffers[2], requests: 3000 }], growth: growth([]) }).outside, null, 'it has stopped')
  t.equal(judge({ readings: buffers, growth: growth([row([MIB, MIB])]) }).verdict, 'grows', 'and its lines are known')
  const heap = [0, 100, 200].map((mib, i) => usage(1000 * (i + 1), {
    heapTotalBytes: (20 + mib) * MIB, rssBytes: (80 + 1.05 * mib) * MIB, externalBytes: (2 + mib / 50) * MIB
  }))
  t.equal(judge({ readings: heap, growth: growth([]) }).outside, null, "V8's heap has most of it")
})

t.test('in the log, and below the table of the status', async t => {
  const outcome = judge({ readings: READINGS, growth: growth([row([MIB, MIB])]) })
  const line = { slot: 1, pid: 7, why: null, tookMs: 60_000, ...outcome }
  t.match(sentenceOf(line, /** @type {any} */ ({ worker: (/** @type {any} */ { slot }) => `slot ${slot}` })), /^slot 1 is not under study any more: remember \/srv\/app\.js:4 leaks: /)
  const plain = (/** @type {string} */ style, /** @type {string} */ text) => `${style}: ${text}`
  t.match(statusLines({ study: { slot: 1, pid: null, sinceMs: 12_000, forMs: 60_000, requests: 5 }, latest: line }, plain), ['yellow: slot 1 (–) is under study for leaks: 12s of 1m, 5 requests', /^yellow: the last study of leaks: remember/])
  t.same(statusLines({ study: null, latest: null }, plain), [])
})
