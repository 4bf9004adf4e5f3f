'use strict'

const t = require('tap')
const { mostOf, lowered } = require('../../lib/core/limit')

t.test('a limit is a number, or a share of what is known', async t => {
  t.equal(mostOf({ most: 5 }, null), 5)
  t.equal(mostOf({ share: 0.5 }, 200), 100)
  t.equal(mostOf({ share: 0.5 }, null), null)
  t.equal(mostOf({ share: 0.5 }, undefined), null)
  t.equal(mostOf(null, 200), null)
})

t.test('jitter lowers either', async t => {
  t.same(lowered({ most: 10 }, 0.85), { most: 9 })
  t.same(lowered({ share: 0.8 }, 0.5), { share: 0.4 })
  t.same(lowered({ most: 1 }, 0.1), { most: 1 })
  t.equal(lowered(null, 0.5), null)
})
