'use strict'

const fc = require('fast-check')
const t = require('tap')
const { Lines, encode, decode, readRequest, readError, writeError } = require('../../lib/control/protocol')
const { RecycleError } = require('../../lib/core/errors')

t.test('lines are put together, wherever the chunks end', async t => {
  const text = fc.string({ unit: 'grapheme' }).map(line => line.replace(/[\r\n]/g, '').trim()).filter(line => line !== '')
  fc.assert(fc.property(fc.array(text), fc.array(fc.nat(50)), (lines, cuts) => {
    const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''))
    const reader = new Lines(10_000)
    const read = []
    let at = 0
    for (const cut of [...cuts, bytes.length]) {
      read.push(...reader.push(bytes.subarray(at, at + cut)).lines)
      at = Math.min(bytes.length, at + cut)
    }
    t.equal(reader.isHalf, false)
    return JSON.stringify(read) === JSON.stringify(lines)
  }))
})

t.test('a line that is too long is dropped; the lines before it are read', async t => {
  const reader = new Lines(10)
  t.same(reader.push(Buffer.from('1234567890\n\n  \nabc')), { lines: ['1234567890'], isTooLong: false })
  t.equal(reader.isHalf, true)
  t.same(reader.push(Buffer.from('defghij\nxy\n12345678901\n')), { lines: ['abcdefghij', 'xy'], isTooLong: true })
  t.same(new Lines(10).push(Buffer.from('12345678901')), { lines: [], isTooLong: true }, 'also before its end has come')
})

t.test('a message is a line of JSON with the version', async t => {
  t.equal(encode({ id: 1, ok: true }), '{"v":1,"id":1,"ok":true}\n')
  t.same(decode(encode({ id: 1, ok: true })), { v: 1, id: 1, ok: true })
  for (const foreign of ['', '{', '[]', 'null', '1', '{"v":2}', '{}']) t.equal(decode(foreign), null, foreign)
})

t.test('a bad request is answered with the flaw, and with its id if it has one', async t => {
  t.same(readRequest('{"v":1,"id":"a","verb":"scale","workers":3}'), { id: 'a', verb: 'scale', args: { workers: 3 } })
  t.same(readRequest('{"v":1,"verb":"status"}'), { id: null, verb: 'status', args: {} })
  for (const [line, why, id] of /** @type {[string, RegExp, any][]} */ ([
    ['status', /it is not JSON$/, null],
    ['"status"', /it is not an object$/, null],
    ['[1]', /it is not an object$/, null],
    ['null', /it is not an object$/, null],
    ['{"id":3,"verb":"status"}', /its v is missing; this fleet uses 1$/, 3],
    ['{"v":2,"id":3,"verb":"status"}', /its v is 2; this fleet uses 1$/, 3],
    ['{"v":1,"id":{},"verb":"status"}', /its id is neither a number nor a text/, null],
    [`{"v":1,"id":"${'x'.repeat(65)}","verb":"status"}`, /its id is neither/, null],
    ['{"v":1,"id":3}', /it has no verb$/, 3],
    ['{"v":1,"id":3,"verb":["status"]}', /it has no verb$/, 3]
  ])) {
    t.throws(() => readRequest(line), { code: 'RECYCLE_BAD_REQUEST', message: why, details: { id } }, line)
  }
})

t.test('an error of the catalogue is the same after the transfer', async t => {
  const thrown = new RecycleError('RECYCLE_NOT_READY', { what: 'the replacement of slot 3', slot: 3, why: 'it exited with code 4' })
  const { code, message, details } = readError(JSON.parse(JSON.stringify(writeError(thrown))))
  t.same({ code, message, details }, { code: thrown.code, message: thrown.message, details: thrown.details })
})

t.test('any other error, or one of another version, keeps its words', async t => {
  t.match(readError(writeError(new TypeError('oh'))), { code: 'RECYCLE_VERB_FAILED', message: 'the fleet failed to carry out the request: oh' })
  t.match(readError({ code: 'RECYCLE_OF_TOMORROW', message: 'no', details: {} }), { code: 'RECYCLE_VERB_FAILED', message: /: no$/ })
  t.match(readError({ code: 'RECYCLE_STOPPED', message: 'it stops' }), { code: 'RECYCLE_VERB_FAILED', message: /: it stops$/ })
  for (const odd of [null, 3, {}, { code: 'toString' }]) t.equal(readError(odd).code, 'RECYCLE_VERB_FAILED')
})
