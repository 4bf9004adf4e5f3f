'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { Rotation } = require('../../../lib/primary/recycling/rotation')

/** A worker of two that serve, which answers what it is asked, and the journal. */
function scene () {
  /** @type {any[]} */
  const journal = []
  const handle = Object.assign(new EventEmitter(), {
    slot: 0,
    pid: 1000,
    state: 'ready',
    isServing: true,
    isGone: false,
    left: null,
    latest: { connections: 2, inFlight: 0 },
    /** @type {any} */
    out: null,
    /** @type {string[]} */
    orders: [],
    become (/** @type {string} */ state) { Object.assign(handle, { state }) },
    order (/** @type {string} */ type) { handle.orders.push(type) },
    call: async () => ({ why: null, isHeard: true })
  })
  const rotation = new Rotation(/** @type {any} */ ({
    options: { drainTimeoutMs: 1000, handoff: true, replayAfterMs: null },
    fleet: { slots: new Map(), serving: () => [handle, {}] },
    record: (/** @type {string} */ event, /** @type {any} */ fields) => journal.push({ event, ...fields }),
    changed () {},
    until: async () => {},
    features: { hasSessions: false },
    tenure: { isOver: false }
  }))
  return { handle, journal, rotation }
}

t.test('a worker that has done its task is back in rotation', async t => {
  const { handle, journal, rotation } = scene()
  t.match(await rotation.take(/** @type {any} */ (handle), { type: 'collect', timeoutMs: 1000 }), { why: null })
  t.equal(handle.state, 'ready')
  t.match(journal, [{ event: 'worker.out-of-rotation', pid: 1000, task: 'collect' }, { event: 'worker.in-rotation', pid: 1000, why: null }])
})

t.test('one that dies once its task is done, and before it is measured, is not: the journal says why', async t => {
  const { handle, journal, rotation } = scene()
  await rotation.take(/** @type {any} */ (handle), { type: 'collect', timeoutMs: 1000 }, async () => {
    Object.assign(handle, { state: 'crashed', isGone: true, left: { code: null, signal: 'SIGKILL' } })
  })
  t.equal(handle.state, 'crashed')
  t.match(journal.at(-1), { event: 'worker.in-rotation', pid: 1000, why: 'its worker was killed by SIGKILL' })
})

t.test('a listener that throws as a worker comes back does not keep the next one from leaving', async t => {
  const { handle, journal, rotation } = scene()
  handle.once('returned', () => { throw new Error('a bug') })
  await t.rejects(rotation.take(/** @type {any} */ (handle), { type: 'collect', timeoutMs: 1000 }), /a bug/)
  t.match(journal.at(-1), { event: 'worker.in-rotation', pid: 1000 })
  t.match(await rotation.take(/** @type {any} */ (handle), { type: 'collect', timeoutMs: 1000 }), { why: null })
})

t.test('one that its app has paused does its task, and stays out; where no other one serves any more it is called back', async t => {
  for (const isAlone of [false, true]) {
    const { handle, journal, rotation } = scene()
    handle.out = { since: 0, why: 'warms up', emptied: Promise.resolve() }
    const task = { type: /** @type {const} */ ('collect'), fields: {}, timeoutMs: 1000 }
    const done = rotation.take(/** @type {any} */ (handle), task)
    if (isAlone) await rotation.rejoin()
    t.match(await done, { why: isAlone ? 'it was called back' : null })
    t.match([handle.state, handle.out?.why, handle.orders], isAlone ? ['ready', undefined, ['rejoin', 'rejoin']] : ['ready', 'warms up', []])
    t.equal(journal.some(({ event }) => event === 'worker.resumed'), isAlone)
  }
})
