'use strict'

const t = require('tap')
const { MOVES, noMoves, sayMoves } = require('../../lib/core/moves')

t.test('moves are said by reason, those that there were', async t => {
  t.same(Object.keys(noMoves()), Object.keys(MOVES))
  t.same(sayMoves(noMoves()), [])
  t.same(sayMoves({ ...noMoves(), leaving: 12_000, load: 3 }), ['12,000 from workers that left', '3 by load'])
  t.same(sayMoves({ number: 1 }), ['1 to even them out'])
})
