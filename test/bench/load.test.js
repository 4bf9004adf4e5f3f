'use strict'

require('../support/bare-children')
const { once } = require('node:events')
const http = require('node:http')
const t = require('tap')
const { load } = require('../../bench/support/load')

/**
 * A server of the test's own.
 *
 * @param {any} t tap's @param {http.RequestListener} listener @returns {Promise<number>} its port
 */
async function serve (t, listener) {
  const server = http.createServer(listener).listen(0, '127.0.0.1')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port
}

t.test('the load counts unanswered requests, and respects a close', async t => {
  let count = 0
  const port = await serve(t, (request, response) => {
    switch (++count % 10) {
      case 1: return response.writeHead(503).end('no')
      case 3: return request.socket.destroy()
      case 5: return response.writeHead(200, { 'content-length': 10 }).write('half', () => request.socket.destroy())
      case 7: return response.setHeader('connection', 'close').end('last')
      default: return response.end('x'.repeat(70_000))
    }
  })
  const { requests, dropped, errors, sockets } = await load({ port, connections: 1, requests: 40 })
  t.equal(requests, 40)
  t.equal(count, 40)
  t.same(errors, { 'status 503': 4, 'closed before the response': 4, 'closed during the response': 4 })
  t.equal(dropped, 12)
  t.equal(sockets, 17, 'a new one after each failure and each close')
})

t.test('at a rate, a request that waits for a stalled server is timed from when it was due', async t => {
  let count = 0
  const port = await serve(t, (request, response) => {
    if (++count === 20) setTimeout(() => response.end('late'), 300)
    else response.end('ok')
  })
  const { requests, dropped, seconds, p50, p90, max } = await load({ port, connections: 1, requests: 200, rate: 200 })
  t.same({ requests, dropped }, { requests: 200, dropped: 0 })
  t.ok(seconds >= 0.995, `${seconds} s: not before the last is due`)
  t.ok(max >= 299, `${max} ms`)
  t.ok(p90 > 50 && p90 > p50, `the requests that waited behind it count too: ${p90} ms`)
})
