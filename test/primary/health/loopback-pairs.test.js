'use strict'

const { once } = require('node:events')
const net = require('node:net')
const t = require('tap')
const { LoopbackPairs } = require('../../../lib/primary/health/loopback-pairs')

const { signal } = new AbortController()

t.test('the two ends are those of one connection, several at a time', async t => {
  const pairs = new LoopbackPairs()
  t.teardown(() => pairs.close())
  const opened = await Promise.all(Array.from({ length: 20 }, () => pairs.open(new AbortController().signal)))
  await Promise.all(opened.map(async ({ near, far }, i) => {
    const socket = new net.Socket(/** @type {any} */ ({ handle: far }))
    near.write(`pair ${i}`)
    t.equal(String((await once(socket, 'data'))[0]), `pair ${i}`)
    near.destroy()
    socket.destroy()
  }))
})

t.test('a connection of another process is given to no worker, and closed', async t => {
  const pairs = new LoopbackPairs()
  t.teardown(() => pairs.close())
  const { near, far } = await pairs.open(signal)
  const stranger = net.connect(/** @type {number} */ (near.remotePort), '127.0.0.1')
  await once(stranger, 'connect')
  const next = await pairs.open(signal)
  t.not(next.near.localPort, stranger.localPort)
  next.near.write('mine')
  const socket = new net.Socket(/** @type {any} */ ({ handle: next.far }))
  t.equal(String((await once(socket, 'data'))[0]), 'mine')
  stranger.resume()
  await once(stranger, 'close')
  for (const end of [near, next.near, socket]) end.destroy()
  far.close()
})

t.test('what is cancelled rejects', async t => {
  const pairs = new LoopbackPairs()
  t.teardown(() => pairs.close())
  const cancel = new AbortController()
  const pair = pairs.open(cancel.signal)
  cancel.abort(new Error('the worker leaves'))
  await t.rejects(pair, { message: 'the worker leaves' })
})
