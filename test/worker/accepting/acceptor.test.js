'use strict'

const { once } = require('node:events')
const net = require('node:net')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { Acceptor } = require('../../../lib/worker/accepting/acceptor')

t.test('while an acceptor pauses, the listening socket stays in this worker, though no primary answers', { skip: loadAddon().missing ?? false }, async t => {
  const handle = Reflect.get(net, '_createServerHandle')('127.0.0.1', 0, 4)
  const asked = []
  const acceptor = new Acceptor(net.createServer(), 'here', handle, false, take => asked.push(take))
  t.teardown(() => acceptor.listening.shut())
  const accepted = []
  acceptor.facade.onconnection = (/** @type {number} */ error, /** @type {any} */ client) => {
    accepted.push(error)
    client.close()
  }
  t.equal(acceptor.facade.listen(10), 0)
  const address = {}
  handle.getsockname(address)
  const connect = async () => {
    const client = net.connect(address.port, '127.0.0.1').resume()
    await once(client, 'connect')
    return client
  }
  await once(await connect(), 'close')
  t.same(accepted, [0])
  for (let times = 1; times <= 3; times++) {
    acceptor.listening.pause()
    acceptor.listening.pause()
    t.equal(acceptor.isOpen, false)
    const waiting = await connect()
    await new Promise(resolve => setTimeout(resolve, 20))
    t.equal(accepted.length, times, 'it waits in the queue')
    acceptor.open()
    await once(waiting, 'close')
    t.equal(accepted.length, times + 1)
  }
  t.same(asked, [], 'the primary is not asked')
  acceptor.listening.shut()
  t.equal(acceptor.listening.fd, -1)
  await t.rejects(connect(), { code: 'ECONNREFUSED' })
})
