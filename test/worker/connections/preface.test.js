'use strict'

/** What an app reads of a connection before http gets it. */

const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const t = require('tap')
const { awaitParser } = require('../../../lib/worker/connections/preface')

const LINE = 'PROXY TCP4 10.1.1.1 10.0.0.1 5000 80\r\n'
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/**
 * A server that reads so many bytes of each connection itself.
 *
 * @param {any} t @param {string[]} chunks that the client sends, in turn @param {number} length
 */
async function serve (t, chunks, length) {
  const prefaces = []
  const urls = []
  const server = http.createServer((request, response) => {
    urls.push(request.url)
    response.end()
  })
  const [parse] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', socket => {
    awaitParser(socket, preface => prefaces.push(preface && preface.toString()))
    const read = () => {
      const bytes = socket.read(length)
      if (bytes === null) return
      socket.removeListener('readable', read)
      parse.call(server, socket)
      t.equal(Object.hasOwn(socket, 'push'), false, 'nothing is left at the socket')
      t.equal(Object.getOwnPropertyDescriptor(socket, 'parser').writable, true)
    }
    socket.on('readable', read)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = net.connect(server.address().port, '127.0.0.1').setNoDelay()
  await once(client, 'connect')
  for (const chunk of chunks) {
    client.write(chunk)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  while (urls.length === 0) await new Promise(resolve => setTimeout(resolve, 5)) // tap's timeout bounds it
  client.destroy()
  server.close()
  return prefaces
}

t.test('a header of the PROXY protocol, however it comes', async t => {
  for (const chunks of [[LINE + GET], [LINE, GET], [...(LINE + GET)].reduce((all, char, i) => {
    if (i % 10 === 0) all.push('')
    all[all.length - 1] += char
    return all
  }, [''])]) t.same(await serve(t, chunks.filter(Boolean), LINE.length), [LINE])
})

t.test('other bytes are not known to be the same to the next worker', async t => {
  t.same(await serve(t, [`HELLO\r\n${GET}`], 7), [null])
  t.same(await serve(t, [LINE + LINE + GET], 2 * LINE.length), [null])
})

t.test('a request that has begun to come before http has the connection is none of it', async t => {
  t.same(await serve(t, [`${LINE}GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(10_000)}\r\n\r\n`], LINE.length), [LINE])
})

t.test('of a connection whose protocol is the app\'s nothing is kept once it is longer than a header', t => {
  const pushed = []
  const socket = /** @type {any} */ (Object.create({ push: (/** @type {any} */ chunk) => pushed.push(chunk) }))
  socket.parser = null
  /** @type {any[]} */
  const given = []
  awaitParser(socket, preface => given.push(preface))
  for (const length of [500, 60_000, 1]) socket.push(Buffer.alloc(length))
  t.equal(Object.hasOwn(socket, 'push'), false)
  t.equal(pushed.length, 3)
  socket.readableLength = 0
  socket.parser = {}
  process.nextTick(() => {
    t.same(given, [null])
    t.end()
  })
})
