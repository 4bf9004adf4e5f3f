'use strict'

const t = require('tap')
const { TRANSITIONS, transition } = require('../../lib/core/state')

const ALLOWED = [
  'spawning standby', 'spawning ready', 'spawning draining', 'spawning crashed',
  'standby ready', 'standby draining', 'standby crashed', 'ready out-of-rotation', 'ready draining', 'ready crashed',
  'out-of-rotation ready', 'out-of-rotation draining', 'out-of-rotation crashed', 'draining retired', 'draining crashed'
]
const STATES = /** @type {import('../../lib/core/state').State[]} */ (['spawning', 'standby', 'ready', 'out-of-rotation', 'draining', 'retired', 'crashed'])

t.test('the table has seven states and is frozen', async t => {
  t.same(Object.keys(TRANSITIONS), STATES)
  t.ok(Object.isFrozen(TRANSITIONS))
  t.ok(Object.values(TRANSITIONS).every(Object.isFrozen))
})

for (const from of STATES) {
  for (const to of STATES) {
    if (ALLOWED.includes(`${from} ${to}`)) {
      t.test(`a worker can go from ${from} to ${to}`, async t => {
        t.equal(transition(from, to), to)
      })
    } else {
      t.test(`a worker that goes from ${from} to ${to} throws`, async t => {
        t.throws(() => transition(from, to), { code: 'RECYCLE_BAD_TRANSITION', message: `a worker cannot go from ${from} to ${to}` })
      })
    }
  }
}
