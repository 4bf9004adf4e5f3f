'use strict'

const net = require('node:net')
const t = require('tap')
const { findTarget, freePort, probe, targetOf } = require('../../../lib/tools/drill/target')

t.test('an address comes from the journal line of its worker', async t => {
  const where = (/** @type {string} */ address) => findTarget([address], 1)
  t.match(where(':3000:4:#0'), { url: 'http://127.0.0.1:3000', host: '127.0.0.1', port: 3000, socketPath: null })
  t.match(where('null:3000:4:#0'), { url: 'http://127.0.0.1:3000' })
  t.match(where('0.0.0.0:3000:4:#0'), { url: 'http://127.0.0.1:3000' })
  t.match(where('127.0.0.2:3000:4:#0'), { url: 'http://127.0.0.2:3000', host: '127.0.0.2' })
  t.match(where('::1:3000:6:#0'), { url: 'http://[::1]:3000', host: '::1' })
  t.match(where(':::3000:6:#1'), { url: 'http://[::1]:3000', host: '::1' })
  t.match(where('/run/app:1/app.sock:-1:-1:#0'), { url: 'unix:/run/app:1/app.sock', socketPath: '/run/app:1/app.sock' })
  t.equal(where('null:0:4:#0'), null, 'port 0: the kernel chose it, and it is unknown')
  t.equal(where('nonsense'), null)
})

t.test('of several addresses the one on PORT is taken, else the first', async t => {
  t.equal(findTarget([':3001:4:#0', ':3000:4:#0'], 3000)?.port, 3000)
  t.equal(findTarget([':3001:4:#0', ':3000:4:#0'], 8080)?.port, 3001)
  t.equal(findTarget([], 3000), null)
})

t.test('a URL is used as it is', async t => {
  t.same(targetOf(new URL('https://localhost/path')), { url: 'https://localhost', secure: true, host: 'localhost', port: 443, socketPath: null })
  t.match(targetOf(new URL('http://[::1]:8080')), { host: '::1', port: 8080, secure: false })
})

t.test('a probe reports whether a server listens', async t => {
  const port = await freePort()
  const target = targetOf(new URL(`http://127.0.0.1:${port}`))
  t.equal(await probe(target), 'ECONNREFUSED')
  const server = net.createServer()
  await new Promise(resolve => server.listen(port, '127.0.0.1', () => resolve(undefined)))
  t.equal(await probe(target), null)
  server.close()
})
