'use strict'

const t = require('tap')
const fc = require('fast-check')
const { History } = require('../../../lib/tools/top/fleet-view')

/** @param {(number | null)[]} values */
function historyOf (values) {
  const history = new History()
  for (const value of values) history.push(value)
  return history
}

t.test('the newest value is at the right, the columns before it are empty', async t => {
  t.same(historyOf([]).in(3), [null, null, null])
  t.same(historyOf([1, 2, 3]).in(60).slice(-4), [null, 1, 2, 3])
})

t.test('one minute of values is kept', async t => {
  const values = Array.from({ length: 100 }, (_, i) => i)
  t.same(historyOf(values).in(60), values.slice(40))
})

t.test('a column shows the highest of its values', async t => {
  t.same(historyOf([5, 9, 1, 2, 3, null]).in(30), [...Array(27).fill(null), 9, 2, 3])
  t.same(historyOf([null, null]).in(30).at(-1), null)
})

t.test('over time columns move without a change, except for the newest and the oldest', async t => {
  fc.assert(fc.property(fc.array(fc.nat(1000), { minLength: 2, maxLength: 200 }), fc.integer({ min: 1, max: 60 }),
    (values, columns) => {
      const before = historyOf(values.slice(0, -1)).in(columns)
      const after = historyOf(values).in(columns)
      const stays = JSON.stringify(after.slice(1, -1)) === JSON.stringify(before.slice(1, -1))
      const moves = JSON.stringify(after.slice(1, -1)) === JSON.stringify(before.slice(2))
      if (!stays && !moves) throw new Error(`${JSON.stringify(before)} became ${JSON.stringify(after)}`)
      if (after.at(-1) === null || Number(after.at(-1)) < /** @type {number} */ (values.at(-1))) throw new Error('the newest value is not in it')
    }))
  t.pass()
})
