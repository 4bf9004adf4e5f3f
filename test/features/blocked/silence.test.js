'use strict'

const t = require('tap')
const fc = require('fast-check')
const { Silence } = require('../../../lib/features/blocked/primary')

const free = (/** @type {number} */ heardAt) => ({ heardAt, isStopped: false })
const held = (/** @type {number} */ heardAt) => ({ heardAt, isStopped: true })

t.test('it is blocked since it was heard', async t => {
  const silence = new Silence()
  t.same(silence.look(1000, free(900)), { blockedMs: 100, stoppedMs: 0 })
  t.same(silence.look(5000, free(900)), { blockedMs: 4100, stoppedMs: 0 })
  t.same(silence.look(5000, free(5001)), { blockedMs: 0, stoppedMs: 0 })
})

t.test('not while it is held, nor for the time before: it is blocked since it was seen to be held last', async t => {
  const silence = new Silence()
  silence.look(1000, free(900))
  t.same(silence.look(2000, held(900)), { blockedMs: 0, stoppedMs: 1100 })
  t.same(silence.look(40_000, held(900)), { blockedMs: 0, stoppedMs: 39_100 })
  t.same(silence.look(40_100, free(900)), { blockedMs: 100, stoppedMs: 0 }, 'it has just been continued')
  t.same(silence.look(70_000, free(900)), { blockedMs: 30_000, stoppedMs: 0 })
  t.same(silence.look(70_100, held(70_000)), { blockedMs: 0, stoppedMs: 100 }, 'held anew')
})

t.test('it never says more than since it was heard, nor anything of one that is held', async t => {
  fc.assert(fc.property(fc.array(fc.record({ afterMs: fc.nat(1000), isHeard: fc.boolean(), isStopped: fc.boolean() })),
    looks => {
      const silence = new Silence()
      let at = 0
      let heardAt = 0
      for (const { afterMs, isHeard, isStopped } of looks) {
        at += afterMs
        if (isHeard) heardAt = at
        const { blockedMs, stoppedMs } = silence.look(at, { heardAt, isStopped })
        if (blockedMs > at - heardAt || blockedMs < 0 || (isStopped ? blockedMs !== 0 : stoppedMs !== 0)) return false
      }
      return true
    }))
})
