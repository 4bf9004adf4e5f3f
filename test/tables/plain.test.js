'use strict'

const t = require('tap')
const failover = require('../../lib/features/failover/feature')
const exceptions = require('../../lib/features/exceptions/feature')
const { sentence } = require('../../lib/journal/sentence')
const { hooksInWorkers } = require('../../lib/primary/hooks')
const { resolveOptions } = require('../../lib/tables/resolved-options')

const resolve = (/** @type {Record<string, any>} */ given) => resolveOptions(given, { parallelism: 2 })

t.test('--plain switches off what works inside Node.js, and refuses what needs it', async t => {
  const options = resolve({ plain: true })
  t.match(options, { handoff: false, replay: 'off', schedule: 'shared', orphanTimeoutMs: 0, revive: false })
  t.notOk(failover.isOn(options) || exceptions.isOn(options))
  for (const given of [{ sticky: 'ip' }, { fork: 'mold' }, { revive: true }, { onException: 'drain' }, { handoff: true }, { schedule: 'even' }]) {
    t.throws(() => resolve({ plain: true, ...given }), { code: 'RECYCLE_BAD_OPTION' }, Object.keys(given)[0])
  }
  t.throws(() => resolve({ plain: true, sticky: 'ip' }), { message: /none with plain: / }, 'by the option that was given')
  t.match(resolve({ plain: true, schedule: 'shared', revive: false }), { plain: true })
})

t.test('the first line of the log says which hooks are on', async t => {
  const say = (/** @type {Record<string, any>} */ given, addon = { guardQueue: () => true }) => {
    const options = resolve({ workers: 2, ...given })
    const hooks = hooksInWorkers(options, /** @type {any} */ ({ addon }))
    return sentence(/** @type {any} */ ({ event: 'fleet.start', pid: 7, app: 'app.js', hooks, options }))
  }
  t.equal(say({}), "recycle 7 starts 2 workers of app.js; hooks in workers: signals, ends of connections, servers that are sent, sockets' handles, accept() without a descriptor, uncaught exceptions, reads and last writes of connections (--plain: the first three alone)")
  t.match(say({ failover: false }), /, sockets' handles, accept\(\) without a descriptor, uncaught exceptions \(--plain: the first three alone\)$/)
  t.match(say({}, { guardQueue: () => false }), /, sockets' handles, uncaught exceptions, last writes of connections \(/, 'a Node.js of which calls cannot be led through the addon')
  t.match(say({}, /** @type {any} */ (null)), /, sockets' handles, uncaught exceptions \(/, 'without the addon')
  t.match(say({ plain: true }), /; hooks in workers: signals, ends of connections, servers that are sent$/)
})
