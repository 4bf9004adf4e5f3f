'use strict'

/**
 * WebSockets that go from worker to worker, with a fixed seed. `npm run campaign -- --moves 1000` moves as many as it
 * is told.
 */

const t = require('tap')
const { extent } = require('../../support/campaign')
const { moveWebSockets } = require('./run')

const MOVES = extent({ short: 100, long: 1000 })
const THINK_MS = extent({ short: 90, long: 30 })

t.setTimeout(600_000) // it says nothing of speed

t.test('nothing is lost, doubled or out of order, and none closes but with a worker that is killed', async t => {
  const { moves, messages, violations } = await moveWebSockets({ moves: MOVES, seed: 54, thinkMs: THINK_MS })
  t.same(violations, [])
  t.ok(moves >= MOVES && messages > MOVES, `${moves} moves, ${messages} messages`)
})

t.test('none closes where no worker is killed', async t => {
  const { closed, violations } = await moveWebSockets({ moves: MOVES / 4, seed: 55, kills: 0, thinkMs: THINK_MS })
  t.same(violations, [])
  t.ok(closed < 30, 'with the primary, at the most')
})
