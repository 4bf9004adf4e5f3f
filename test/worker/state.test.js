'use strict'

const t = require('tap')
const { TRANSITIONS, WorkerState } = require('../../lib/worker/state')

const ALLOWED = {
  standby: ['serving', 'shut', 'draining'],
  serving: ['leaving', 'shut', 'draining'],
  leaving: ['serving', 'out', 'shut', 'draining'],
  out: ['serving', 'shut', 'draining'],
  shut: ['draining'],
  draining: ['drained'],
  drained: []
}
const STATES = /** @type {import('../../lib/worker/state').State[]} */ (Object.keys(ALLOWED))

t.test('the table is this one', async t => {
  t.same(TRANSITIONS, ALLOWED)
  t.ok(Object.isFrozen(TRANSITIONS))
})

t.test('a transition that is not in the table throws', async t => {
  for (const from of STATES) {
    for (const to of STATES) {
      const state = new WorkerState(from)
      const isAllowed = /** @type {string[]} */ (ALLOWED[/** @type {keyof ALLOWED} */ (from)]).includes(to)
      t.equal(state.canBecome(to), isAllowed)
      if (isAllowed) state.become(to)
      else t.throws(() => state.become(to), { message: `a worker that is ${from} cannot become ${to}` })
      t.equal(state.current, isAllowed ? to : from)
    }
  }
})
