'use strict'

const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const t = require('tap')
const { holdWrites } = require('../../../lib/worker/sticky/hold-writes')

/** @type {Record<string, (response: http.ServerResponse) => void>} */
const ANSWERS = {
  'ends at once': response => { response.end('hello') },
  'has a body in parts': response => {
    response.write('hel')
    response.end('lo')
  },
  'has no body': response => { response.writeHead(204).end() },
  'closes the connection': response => { response.setHeader('Connection', 'close').end('hello') }
}

for (const [name, answer] of Object.entries(ANSWERS)) {
  t.test(`a response that ${name} leaves when it is let go, and not before`, async t => {
    let release = () => {}
    const server = http.createServer((request, response) => {
      release = holdWrites(request.socket)
      answer(response)
      server.emit('answered')
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const { port } = /** @type {net.AddressInfo} */ (server.address())
    const client = net.connect(port, '127.0.0.1')
    t.teardown(() => client.destroy())
    let received = ''
    client.on('data', bytes => { received += bytes })
    client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    await once(server, 'answered')
    const other = await fetchFrom(server, port) // a round trip later
    t.equal(received, '')
    t.match(other, /^HTTP/)
    release()
    if (received === '') await once(client, 'data')
    t.match(received, /^HTTP\/1\.1 20/)
  })
}

/** @param {http.Server} server @param {number} port */
async function fetchFrom (server, port) {
  const [listener] = /** @type {any[]} */ (server.listeners('request'))
  server.removeAllListeners('request')
  server.once('request', (_, response) => { response.end() })
  const client = net.connect(port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n')
  const [bytes] = await once(client, 'data')
  client.destroy()
  server.on('request', listener)
  return String(bytes)
}
