'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const t = require('tap')
const { queueLength, isAnyHalfOpen } = require('../../../lib/primary/sockets/close-without-reset')

for (const host of ['127.0.0.1', '::1']) {
  t.test(`a connection that waits at ${host} is counted, until it is accepted`, async t => {
    const handle = /** @type {any} */ (net)._createServerHandle(host, 0, net.isIPv6(host) ? 6 : 4)
    const bound = /** @type {any} */ ({})
    handle.getsockname(bound)
    /** @type {any[]} */
    const accepted = []
    handle.onconnection = (/** @type {number} */ _, /** @type {any} */ client) => accepted.push(client)
    handle.listen(511)
    t.equal(queueLength(handle.fd), 0)
    const clients = [1, 2, 3].map(() => net.connect({ host, port: bound.port }))
    const connected = Promise.all(clients.map(client => once(client, 'connect')))
    await new Promise(process.nextTick) // all three have connected, and the loop has not turned
    t.equal(queueLength(handle.fd), 3)
    t.notOk(isAnyHalfOpen(handle.fd))
    await connected
    while (accepted.length < 3) await new Promise(setImmediate)
    t.equal(queueLength(handle.fd), 0)
    for (const client of [...clients, ...accepted.map(handle => new net.Socket({ handle }))]) client.destroy()
    handle.close()
  })
}

t.test('a socket that does not listen has no queue', async t => {
  const fd = fs.openSync(__filename, 'r')
  t.equal(queueLength(fd), null)
  t.notOk(isAnyHalfOpen(fd))
  fs.closeSync(fd)
})
