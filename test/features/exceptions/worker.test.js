'use strict'

const { AsyncResource } = require('node:async_hooks')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const t = require('tap')
const { part: surviveExceptions } = require('../../../lib/features/exceptions/worker')
const { ConnectionTracker } = require('../../../lib/worker/connections/tracker')
const { exposeGc } = require('../../../lib/worker/vitals/memory')

t.test('what the app keeps of a request, a timer say, keeps neither request nor response alive when it has been answered', async t => {
  const before = process.listeners('uncaughtExceptionMonitor')
  const tracker = new ConnectionTracker()
  const kernel = /** @type {any} */ ({ channel: {}, tracker, state: {} })
  surviveExceptions(kernel)
  t.teardown(() => { for (const listener of process.listeners('uncaughtExceptionMonitor')) if (!before.includes(listener)) process.removeListener('uncaughtExceptionMonitor', listener) })
  /** @type {AsyncResource[]} */
  const kept = []
  /** @type {WeakRef<object>[]} */
  const responses = []
  const server = http.createServer((request, response) => {
    kept.push(new AsyncResource('timer'))
    responses.push(new WeakRef(response))
    t.equal(kernel.currentExchange().response, response)
    response.end(request.url)
  })
  tracker.watch(/** @type {any} */ ({ server, isOfOurs: () => true }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (let i = 0; i < 5; i++) {
    const socket = net.connect(/** @type {net.AddressInfo} */ (server.address()).port, '127.0.0.1').resume()
    socket.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n')
    await once(socket, 'close')
  }
  server.close()
  await once(server, 'close')
  await new Promise(resolve => setTimeout(resolve, 1)) // a WeakRef holds until the end of the turn
  exposeGc()()
  t.same(responses.map(response => response.deref()), Array(5).fill(undefined))
  kept[0].runInAsyncScope(() => t.equal(kernel.currentExchange(), null))
})
