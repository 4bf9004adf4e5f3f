'use strict'

const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const t = require('tap')
const { holdWrites } = require('../../../lib/features/sticky/hold-writes')

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
    const { client, releases, received, checkHeld } = await ask(t, 1, (_, response) => answer(response))
    await checkHeld()
    releases[0]()
    if (received() === '') await once(client, 'data')
    t.match(received(), /^HTTP\/1\.1 20/)
  })
}

t.test('two pipelined responses are held until both are let go', async t => {
  const { client, releases, received, checkHeld } = await ask(t, 2, (request, response) => response.end(request.url))
  releases[0]()
  releases[0]() // once is enough
  await checkHeld()
  releases[1]()
  while (!received().endsWith('/1')) await once(client, 'data')
  t.match(received(), /\/0.*\/1$/s)
})

/**
 * Pipelined requests that have been answered, with the writes held back for each of them.
 *
 * @param {any} t tap's
 * @param {number} count
 * @param {(request: http.IncomingMessage, response: http.ServerResponse) => void} answer
 */
async function ask (t, count, answer) {
  /** @type {(() => void)[]} */
  const releases = []
  const server = http.createServer((request, response) => {
    releases.push(holdWrites(request.socket))
    answer(request, response)
    if (releases.length === count) server.emit('answered')
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const client = net.connect(port, '127.0.0.1')
  t.teardown(() => client.destroy())
  let received = ''
  client.on('data', bytes => { received += bytes })
  client.write(Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: here\r\n\r\n`).join(''))
  await once(server, 'answered')
  return {
    client,
    releases,
    received: () => received,
    /** A round trip later nothing has come. */
    async checkHeld () {
      t.match(await fetchFrom(server, port), /^HTTP/)
      t.equal(received, '')
    }
  }
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
