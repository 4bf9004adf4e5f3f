'use strict'

const { AsyncResource } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const t = require('tap')
const { surviveExceptions } = require('../../../lib/features/exceptions/worker')
const { exposeGc } = require('../../../lib/worker/vitals/memory')

t.test('what the app keeps of a request, a timer say, keeps neither request nor response alive', async t => {
  const before = process.listeners('uncaughtExceptionMonitor')
  const tracker = new EventEmitter()
  const kernel = /** @type {any} */ ({ channel: {}, tracker, state: {} })
  surviveExceptions(kernel)
  t.teardown(() => { for (const listener of process.listeners('uncaughtExceptionMonitor')) if (!before.includes(listener)) process.removeListener('uncaughtExceptionMonitor', listener) })
  /** @type {AsyncResource[]} */
  const kept = []
  const begin = () => new AsyncResource('turn').runInAsyncScope(() => { // each request has a turn of its own
    const exchange = { head: { method: 'GET', url: '/' }, response: {} }
    tracker.emit('request', null, exchange)
    kept.push(new AsyncResource('timer'))
    t.equal(kernel.currentExchange(), exchange)
    return new WeakRef(exchange.response)
  })
  const responses = Array.from({ length: 5 }, begin)
  await new Promise(resolve => setTimeout(resolve, 1)) // a WeakRef holds until the end of the turn
  exposeGc()()
  t.same(responses.map(response => response.deref()), responses.map(() => undefined))
  kept[0].runInAsyncScope(() => t.equal(kernel.currentExchange(), null))
})
