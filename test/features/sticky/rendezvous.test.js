'use strict'

const t = require('tap')
const { randomUUID } = require('node:crypto')
const { ownerOf } = require('../../../lib/features/sticky/rendezvous')

const KEYS = Array.from({ length: 30_000 }, () => randomUUID())

const first = (/** @type {number} */ count) => Array.from({ length: count }, (_, slot) => slot)

t.test('every slot owns its share of the keys', async t => {
  for (const slots of [1, 2, 5, 17]) {
    const counts = new Array(slots).fill(0)
    for (const key of KEYS) counts[ownerOf(key, first(slots))]++
    for (const count of counts) t.ok(Math.abs(count - KEYS.length / slots) < 6 * Math.sqrt(KEYS.length / slots), `${count} of ${KEYS.length / slots}`)
  }
})

t.test('an owner changes only where a slot comes or goes', async t => {
  for (let slots = 1; slots < 9; slots++) {
    const moved = KEYS.filter(key => ownerOf(key, first(slots)) !== ownerOf(key, first(slots + 1)))
    t.ok(moved.every(key => ownerOf(key, first(slots + 1)) === slots), 'every key that moves goes to the new slot')
    t.ok(Math.abs(moved.length - KEYS.length / (slots + 1)) < 1000)
  }
})

t.test('where a slot in the middle goes, only its keys get other owners', async t => {
  const moved = KEYS.filter(key => ownerOf(key, [0, 1, 2, 3]) !== ownerOf(key, [0, 2, 3]))
  t.ok(moved.length > 0 && moved.every(key => ownerOf(key, [0, 1, 2, 3]) === 1))
})

t.test('the owner of a key is the same in every process and version', async t => {
  t.same(['', 'a', 'session', 's%3A0123.sig', 'é'].map(key => ownerOf(key, first(7))), [0, 4, 6, 2, 5])
})
