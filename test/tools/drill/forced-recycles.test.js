'use strict'

const t = require('tap')
const { forceKills, forceRecycles, nextWorker } = require('../../../lib/tools/drill/forced-recycles')
const { startFleet } = require('../../support/fleet')

t.test('the next slot is that of the next worker that serves, and after the last one the first again', async t => {
  const nextSlot = (/** @type {any} */ workers, /** @type {number | null} */ last) =>
    nextWorker(workers, last)?.slot ?? null
  const ready = (/** @type {(number | null)[]} */ ...slots) => slots.map(slot => ({ slot, state: 'ready' }))
  t.equal(nextSlot(ready(4, 0, 2), null), 0)
  t.equal(nextSlot(ready(4, 0, 2), 0), 2)
  t.equal(nextSlot(ready(4, 0, 2), 4), 0)
  t.equal(nextSlot(ready(4, 0), 2), 4, 'its slot is gone')
  t.equal(nextSlot(ready(1), 1), 1)
  t.equal(nextSlot([{ slot: 0, state: 'draining' }, { slot: 1, state: 'spawning' }, { slot: null, state: 'standby' }, ...ready(3)], null), 3)
  t.equal(nextSlot([{ slot: 0, state: 'spawning' }], 0), null)
})

t.test('every slot of a fleet whose slots have gaps is recycled in turn', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { workers: 3 })
  supervisor.parts.fleet.resize(2, [1]) // as a fleet that sizes itself gives up the worker that does the least
  supervisor.parts.changed()
  await events.until('scaled')
  t.same(supervisor.status().workers.map((/** @type {any} */ { slot }) => slot), [0, 2])
  const ending = new AbortController()
  const ended = forceRecycles(supervisor, 1, ending.signal)
  await events.until('recycled', { count: 4 })
  ending.abort()
  await ended
  t.same(events.all('recycled').slice(0, 4).map(({ slot, reason }) => [slot, reason]), [[0, 'requested'], [2, 'requested'], [0, 'requested'], [2, 'requested']])
})

t.test('a worker of one slot after the other is killed, and when that is over all are replaced', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { workers: 2 })
  const ending = new AbortController()
  let kills = 0
  const ended = forceKills(supervisor, 10, ending.signal, () => { if (++kills === 3) ending.abort() })
  await ended
  t.match(supervisor.status(), { totals: { workers: 2, ready: 2 } })
  const crashes = events.all('worker.crash')
  t.same(crashes.map(({ signal }) => signal), ['SIGKILL', 'SIGKILL', 'SIGKILL'], 'each kill is of a worker that had not been killed yet')
  t.same(crashes.slice(0, 2).map(({ slot }) => slot).sort(), [0, 1])
})
