'use strict'

const t = require('tap')
const { part: tellWhereBlocked } = require('../../../lib/features/blocked/worker')
const { loadInterrupt } = require('../../../lib/features/blocked/interrupt')

const SETTINGS = { mostFrames: 20, longestFrame: 500, mostRequests: 10 }

t.test('it tells of the request whose code runs, by a message that leaves what waits to be sent alone', { skip: loadInterrupt() === null && 'there is no addon for this machine' }, async t => {
  const exchange = (/** @type {string} */ url, /** @type {number} */ number) => ({ head: { method: 'GET', url }, number })
  const [old, young, ended] = [exchange('/report?id=1', 1), exchange('/other', 2), exchange('/ended', 3)]
  const connections = [{ exchanges: [old], copy: { serial: 7 } }, { exchanges: [young], copy: null }]
  /** @type {any[]} */
  const told = []
  const kernel = /** @type {any} */ ({
    channel: {
      sendAside (/** @type {string} */ type, /** @type {any} */ fields) {
        if (told.push({ type, ...fields }) > 1) return
        process.kill(process.pid, 'SIGURG') // within the first
        for (const until = Date.now() + 100; Date.now() < until;);
      }
    },
    tracker: { connections },
    currentExchange: () => old
  })
  const { prepareStackTrace } = Error
  tellWhereBlocked(kernel, SETTINGS)
  const interrupted = () => {
    const before = told.length
    'own'.match(/(own)/)
    process.kill(process.pid, 'SIGURG')
    for (let i = 0; told.length === before && i < 1e10; i++);
    return { ...told.at(-1), own: RegExp.$1, count: told.length }
  }
  Error.prepareStackTrace = () => 'of the app'
  t.teardown(() => { Error.prepareStackTrace = prepareStackTrace })
  t.match(interrupted(), { own: 'own', count: 1, type: 'where', request: 'GET /report', serial: 7, requests: [{ request: 'GET /other', count: 1 }, { request: 'GET /report', count: 1 }], stack: [/^interrupted \(.*worker\.test\.js:\d+:\d+\)$/] })
  t.equal(Error.prepareStackTrace(/** @type {any} */ (null), []), 'of the app', "the app's own is back")
  kernel.currentExchange = () => ended
  t.match(interrupted(), { request: null, serial: null }, 'its code goes on after its end: which request blocks is not known')
  connections.pop()
  t.match(interrupted(), { request: 'GET /report', serial: 7 }, 'the only one')
  Object.defineProperty(kernel, 'currentExchange', { value: () => { throw new Error('as the app may have it') } })
  process.kill(process.pid, 'SIGURG')
  await new Promise(resolve => setTimeout(resolve, 50))
  t.equal(told.length, 3, 'a throw ends nothing')
})
