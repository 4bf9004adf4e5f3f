'use strict'

const t = require('tap')
const { isQuotaLeft, lackOfRoom } = require('../../../lib/features/heapdump/primary')

t.test('at most n snapshots in any 24 hours', async t => {
  t.equal(isQuotaLeft([], 1, 0), true)
  t.equal(isQuotaLeft([5], 1, 6), false)
  t.equal(isQuotaLeft([5], 2, 6), true)
  t.equal(isQuotaLeft([5, 7], 2, 5 + 86_400_000 - 1), false)
  t.equal(isQuotaLeft([5, 7], 2, 5 + 86_400_000), true)
})

t.test('a snapshot that might exceed the folder or the file system is not begun', async t => {
  const room = { usedBytes: 60, limitBytes: 100, freeBytes: 1000 }
  t.equal(lackOfRoom(room, 40), null)
  t.match(lackOfRoom(room, 41), /limit of the folder/)
  t.equal(lackOfRoom({ ...room, freeBytes: 40 }, 40), null)
  t.match(lackOfRoom({ ...room, freeBytes: 39 }, 40), /file system/)
})
