'use strict'

const t = require('tap')
const { Kinds } = require('../../../lib/features/exceptions/kinds')

const stack = (/** @type {string[]} */ ...frames) => ['Error: it', ...frames.map(frame => `    at ${frame}`)].join('\n')
const thrown = (/** @type {Record<string, any>} */ about) => ({ name: 'Error', message: 'it', stack: stack('f (/a.js:1:1)', 'g (/a.js:2:1)'), request: 'GET /', ...about })

t.test('those of one name and place are one kind, whatever their messages; its first tells what it is', async t => {
  const kinds = new Kinds()
  t.equal(kinds.add(thrown({ message: 'user 1' })).count, 1)
  t.equal(kinds.add(thrown({ message: 'user 2', request: 'GET /b' })).count, 2)
  t.equal(kinds.add(thrown({ name: 'TypeError' })).count, 1)
  t.equal(kinds.add(thrown({ stack: stack('f (/a.js:9:1)') })).count, 1)
  t.equal(kinds.count, 4)
  t.same(kinds.list(1), [{ name: 'Error', message: 'user 1', request: 'GET /', count: 2 }])
  t.equal(kinds.list(10).length, 3)
})

t.test('three frames tell a place: those below are of the caller', async t => {
  const kinds = new Kinds()
  const of = (/** @type {string} */ last) => kinds.add(thrown({ stack: stack('f', 'g', 'h', last) })).count
  t.same([of('i'), of('j')], [1, 2])
  t.equal(kinds.add(thrown({ stack: stack('f', 'g', 'x') })).count, 1)
})

t.test('a line of a journal says how many there have been', async t => {
  const kinds = new Kinds()
  t.equal(kinds.add(thrown({}), 40).count, 40)
  t.equal(kinds.add(thrown({}), 3).count, 41, 'at least one more')
  t.equal(kinds.count, 41)
})

t.test('those beyond 200 kinds are counted as one, others; what is known stays known', async t => {
  const kinds = new Kinds()
  for (let i = 0; i < 300; i++) t.equal(kinds.add(thrown({ name: `E${i}` })).name, i < 200 ? `E${i}` : 'others')
  t.equal(kinds.count, 300)
  t.same(kinds.list(1), [{ name: 'others', message: 'beyond 200 kinds', request: null, count: 100 }])
  t.equal(kinds.list(1000).length, 201)
  t.equal(kinds.add(thrown({ name: 'E199' })).count, 2)
  t.equal(kinds.add(thrown({ name: 'E200' })).count, 101)
})

t.test('a line of a journal about others counts as one of them, in a report that knows fewer kinds, too', async t => {
  const kinds = new Kinds()
  t.match(kinds.add(thrown({ name: 'others', message: 'E250: it' }), 51), { name: 'others', count: 51 })
  t.match(kinds.add(thrown({ name: 'others', stack: stack('elsewhere') }), 52), { name: 'others', count: 52 })
  t.same(kinds.list(10), [{ name: 'others', message: 'beyond 200 kinds', request: null, count: 52 }])
})

t.test('a list is a copy, and has no kind of which there was none', async t => {
  const kinds = new Kinds()
  t.same(kinds.list(10), [])
  kinds.add(thrown({}))
  kinds.list(1)[0].count = 7
  t.equal(kinds.count, 1)
})
