'use strict'

const t = require('tap')
const { rotate } = require('../../lib/core/rotation')

/** @param {...[wish: string | null, outSince: number | null]} members */
const after = (...members) => {
  const { out, back, kept } = rotate(members.map(([wish, outSince], id) => ({ id, wish, outSince })))
  const ids = (/** @type {{ id: number }[]} */ list) => list.map(({ id }) => id)
  return { out: ids(out), back: ids(back), kept: ids(kept) }
}

t.test('a worker leaves when it wants out, and returns when it does not', async t => {
  t.same(after([null, null], [null, null]), { out: [], back: [], kept: [] })
  t.same(after(['ill', null], [null, null], ['ill', null]), { out: [0, 2], back: [], kept: [] })
  t.same(after([null, 5], ['ill', 5], [null, null]), { out: [], back: [0], kept: [] })
})

t.test('one stays in, and one is called back where none is in', async t => {
  t.same(after(['ill', null]), { out: [], back: [], kept: [0] })
  t.same(after(['ill', null], ['ill', null]), { out: [1], back: [], kept: [0] })
  t.same(after(['ill', null], ['ill', 5]), { out: [], back: [], kept: [0] }, 'and that is stable')
  t.same(after(['ill', 7], ['ill', 5]), { out: [], back: [1], kept: [] }, 'the one that has been out for longest')
  t.same(after([null, 7], ['ill', null]), { out: [1], back: [0], kept: [] }, 'what returns takes the place of what leaves')
  t.same(after(), { out: [], back: [], kept: [] })
})
