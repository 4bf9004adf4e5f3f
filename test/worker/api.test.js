'use strict'

const t = require('tap')
const worker = require('../../lib/worker')
const { findApi, offerApi } = require('../../lib/worker/api')

t.test('outside a fleet everything does nothing', async t => {
  t.equal(findApi(), undefined)
  const before = process.listenerCount(/** @type {any} */ ('recycle:drain'))
  t.equal(worker.requestRecycle('why'), undefined)
  t.equal(worker.requestRecycle(), undefined)
  t.equal(worker.onDrain(() => t.fail('no drain outside a fleet')), undefined)
  t.equal(worker.onServe(() => t.fail('no slot outside a fleet')), undefined)
  t.equal(worker.pin(/** @type {any} */ ({})), undefined)
  t.equal(process.listenerCount(/** @type {any} */ ('recycle:drain')), before, 'nor does it leave a listener behind')
})

t.test('the package gives the app these and no more', async t => {
  t.same(Object.keys(require('recycle-supervisor/worker')).sort(), ['exposeMetrics', 'movable', 'onDrain', 'onFork', 'onLease', 'onMoved', 'onServe', 'onTransfer', 'own', 'pause', 'pin', 'replayable', 'requestRecycle', 'resume', 'socketIO', 'transfer', 'warm', 'webSockets'])
})

t.test('in a fleet they reach the preload, also from another copy of the package', async t => {
  /** @type {any[]} */
  const sent = []
  const socket = {}
  const connection = { isPinned: false }
  const pin = (/** @type {any} */ of) => { if (of === socket) connection.isPinned = true }
  const { connect, assign, leave } = offerApi(/** @type {any} */ ({ pin }), [])
  worker.requestRecycle('before it is a worker')
  t.same(sent, [])
  connect(
    /** @type {any} */ ({ send: (/** @type {string} */ type, /** @type {any} */ fields) => sent.push([type, fields]) })
  )
  for (const id of ['../../lib/worker', '../../lib/worker/api']) delete require.cache[require.resolve(id)]
  const copy = require('../../lib/worker')
  t.not(copy, worker)
  /** @type {any[]} */
  const standing = []
  for (const { requestRecycle, pin, onDrain, onServe } of [worker, copy]) {
    t.equal(onServe(about => standing.push(about)), undefined)
    process.removeAllListeners('recycle:serve') // by the app, which does not mean these
    t.same(standing, [], 'it stands by')
    connection.isPinned = false
    sent.length = 0
    requestRecycle('a leak')
    t.same(sent, [['requested', { reason: 'a leak' }]])
    pin(/** @type {any} */ (socket))
    t.equal(connection.isPinned, true)
    t.doesNotThrow(() => pin(/** @type {any} */ ({})), 'a socket of no server of ours')
    /** @type {any[]} */
    const heard = []
    onDrain(about => heard.push(about))
    const about = { reason: 'rss', deadlineMs: 5, handoff: true }
    for (let n = 0; n < 2; n++) leave(about)
    t.same(heard, [about], 'once')
  }

  // A standby has its slot when it is called: in the environment first, then each callback is called, once.
  process.env.RECYCLE_SLOT = 'standby'
  t.teardown(() => { delete process.env.RECYCLE_SLOT })
  /** @type {any[]} */
  const served = []
  for (const name of ['a', 'b']) copy.onServe((/** @type {any} */ { slot }) => served.push([name, slot, process.env.RECYCLE_SLOT]))
  t.same(served, [])
  assign(2)
  t.same(served, [['a', 2, '2'], ['b', 2, '2']])
  t.same(standing, [{ slot: 2 }, { slot: 2 }])
  t.equal(process.listenerCount(/** @type {any} */ ('recycle:serve')), 0, 'of more than ten Node warns')
  served.length = 0
  copy.onServe((/** @type {any} */ about) => served.push(about))
  t.same(served, [], 'never within the call')
  await new Promise(resolve => process.nextTick(resolve))
  t.same(served, [{ slot: 2 }], 'also a later callback')
})
