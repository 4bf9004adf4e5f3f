'use strict'

const t = require('tap')
const { Rotation } = require('../../../lib/primary/recycling/rotation')
const { Heard } = require('../../support/heard')

/** Two workers that serve. */
function scene () {
  const lines = /** @type {string[]} */ ([])
  const calls = /** @type {string[]} */ ([])
  const handles = [0, 1].map(slot => Object.assign(new Heard(), {
    slot,
    pid: 100 + slot,
    out: null,
    isServing: true,
    latest: { inFlight: 0 },
    connections: 0,
    order: (/** @type {string} */ type) => calls.push(`${slot} ${type}`),
    call: (/** @type {string} */ type) => {
      calls.push(`${slot} ${type}`)
      return Promise.resolve({ why: null })
    }
  }))
  const rotation = new Rotation(/** @type {any} */ ({
    options: { handoff: true, replayAfterMs: null },
    fleet: { serving: () => handles.filter(({ isServing }) => isServing) },
    record: (/** @type {string} */ event) => lines.push(event),
    tenure: { isOver: false }
  }))
  for (const handle of handles) rotation.connect(/** @type {any} */ (handle))
  return { handles, lines, calls }
}

t.test('a worker that is paused leaves rotation, and returns when it is resumed', async t => {
  const { handles: [a], lines, calls } = scene()
  a.say('pause', { reason: 'warms up' })
  t.match(a.out, { why: 'warms up' })
  a.say('pause', { isOver: true })
  t.same(lines, ['worker.paused', 'worker.resumed'])
  t.same(calls, ['0 leave-rotation', '0 rejoin'])
})

t.test('one that is paused while it is out of rotation for a task leaves when it has returned', async t => {
  const { handles: [a], lines } = scene()
  a.isServing = false
  a.say('pause', { reason: 'warms up' })
  t.same(lines, [])
  a.isServing = true
  a.emit('returned')
  t.same(lines, ['worker.paused'])
})
