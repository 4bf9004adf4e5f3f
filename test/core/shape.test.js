'use strict'

const t = require('tap')
const shapes = require('../../lib/core/shape')

const { count, integer, duration, ratio, flag, text, orNull, optional, listOf, mapOf, record } = shapes

t.test('each shape accepts its own values and no others', async t => {
  const values = [undefined, null, true, 0, -0.5, 0.5, 1, 7, -7, 2 ** 53, NaN, Infinity, '', '7', 'long text', [], [7], {}, { toString: 1 }]
  const taken = (/** @type {import('../../lib/core/shape').Shape} */ shape) =>
    values.filter(value => shape(value) === null)
  t.strictSame(taken(count), [0, 1, 7])
  t.strictSame(taken(integer), [0, 1, 7, -7])
  t.strictSame(taken(duration), [0, 0.5, 1, 7, 2 ** 53])
  t.strictSame(taken(ratio), [0, 0.5, 1])
  t.strictSame(taken(flag), [true])
  t.strictSame(taken(text(3)), ['', '7'])
  t.strictSame(taken(orNull(flag)), [null, true])
  t.strictSame(taken(optional(flag)), [undefined, true])
  t.strictSame(taken(listOf(count)), [[], [7]])
  t.equal(mapOf(count, 2)({ a: 1, b: 2 }), null)
  for (const bad of [{ a: 1, b: 2, c: 3 }, { a: 'x' }, [1], null]) t.not(mapOf(count, 2)(bad), null)
  t.strictSame(taken(record({})), [{}])
})

t.test('a record accepts exactly its own fields, and no inherited ones', async t => {
  const shape = record({ a: count, toString: optional(count) })
  t.equal(shape({ a: 1 }), null)
  t.equal(shape({ a: 1, toString: 2 }), null)
  t.same(shape({}), { at: '.a', accepts: 'a whole number from 0 to 2^53' })
  t.same(shape({ a: 1, b: 2 }), { at: '.b', accepts: 'nothing' })
  t.same(shape(JSON.parse('{"a":1,"__proto__":{}}')), { at: '.__proto__', accepts: 'nothing' })
  t.same(shape(Object.create({ a: 1 })), { at: '.a', accepts: 'a whole number from 0 to 2^53' })
})

t.test('a flaw says where it is, however deep', async t => {
  const shape = record({ list: listOf(record({ size: orNull(count) })) })
  t.same(shape({ list: [{ size: 1 }, { size: 'x' }] }), { at: '.list[1].size', accepts: 'a whole number from 0 to 2^53, or null' })
  t.same(shape({ list: [{ size: 1 }, 5] }), { at: '.list[1]', accepts: 'an object' })
  t.same(shape({ list: 5 }), { at: '.list', accepts: 'a list' })
  t.same(orNull(record({ a: count }))({ a: 'x' }), { at: '.a', accepts: 'a whole number from 0 to 2^53' }, 'null in place of the record, not of its field')
})

t.test('the name of a stray field has no line end in a flaw', async t => {
  t.equal(record({})({ 'a\nb': 1 })?.at, '.a\\nb')
  t.equal(record({})({ ['x'.repeat(41)]: 1 })?.at, `.${'x'.repeat(40)}`)
})

t.test('of an open record other fields are ignored, as a later version may say more; its own are checked', async t => {
  const shape = record({ a: count }, { isOpen: true })
  t.equal(shape({ a: 1, b: 2 }), null)
  t.same(shape({ b: 2 }), { at: '.a', accepts: 'a whole number from 0 to 2^53' })
  t.equal(shapes.kind('it', { a: count }).fields({ a: 1, b: 2 })?.at, '.b')
  t.equal(shapes.kind('it', { a: count }, 'none', { isOpen: true }).fields({ a: 1, b: 2 }), null)
})
