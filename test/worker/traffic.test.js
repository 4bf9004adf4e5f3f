'use strict'

const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const t = require('tap')
const { Traffic } = require('../../lib/worker/traffic')

/** @param {import('tap').Test} t */
async function start (t) {
  const traffic = new Traffic()
  const server = http.createServer((_, response) => response.end('ok'))
  const gate = /** @type {any} */ ({ server, arriving: null, isOfOurs: () => true })
  traffic.watch(gate)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const connect = async () => {
    const came = once(traffic, 'connection')
    const socket = net.connect(/** @type {net.AddressInfo} */ (server.address()).port, '127.0.0.1')
    const [connection] = await came
    return { socket, connection }
  }
  return { traffic, gate, connect }
}

t.test('a connection is lasting when it has been here for a second', async t => {
  const { traffic, connect } = await start(t)
  const old = await Promise.all([connect(), connect(), connect()])
  t.equal(traffic.lasting, 0)
  await sleep(1050)
  t.equal(traffic.lasting, 3)
  await connect()
  t.equal(traffic.lasting, 3, 'the latest is not')
  const gone = once(traffic, 'gone')
  old[1].socket.destroy()
  await gone
  t.equal(traffic.lasting, 2)
})

t.test('or at once when it comes from a sibling, whoever came before it', async t => {
  const { traffic, gate, connect } = await start(t)
  await connect()
  gate.arriving = { bytes: Buffer.from('GET / HT'), isPinned: false }
  await connect()
  gate.arriving = null
  await connect()
  t.equal(traffic.lasting, 1)
})
