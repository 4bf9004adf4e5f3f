'use strict'

const t = require('tap')
const { STATES, WorkerState } = require('../../lib/worker/state')

const ALLOWED = {
  held: ['serving', 'shut', 'draining'],
  serving: ['leaving', 'shut', 'draining'],
  leaving: ['serving', 'out', 'shut', 'draining'],
  out: ['serving', 'shut', 'draining'],
  shut: ['draining'],
  draining: ['drained'],
  drained: []
}
const NAMES = /** @type {import('../../lib/worker/state').State[]} */ (Object.keys(ALLOWED))

t.test('the table is this one, and only a worker that serves takes connections', async t => {
  t.same(STATES, ALLOWED)
  for (const name of NAMES) t.equal(new WorkerState(name).adopts, ['serving', 'shut'].includes(name), name)
  t.equal(new WorkerState().isServing, true)
})

t.test('a transition that is not in the table throws', async t => {
  for (const from of NAMES) {
    for (const to of NAMES) {
      const state = new WorkerState(from)
      const isAllowed = /** @type {string[]} */ (ALLOWED[/** @type {keyof ALLOWED} */ (from)]).includes(to)
      t.equal(state.canBecome(to), isAllowed)
      if (isAllowed) state.become(to)
      else t.throws(() => state.become(to), { message: `a worker that is ${from} cannot become ${to}` })
      t.equal(state.current, isAllowed ? to : from)
    }
  }
})
