'use strict'

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')
const { forkGuardable, guardChannel } = require('../../../lib/primary/workers/channel-guard')

/** @param {any} t @param {string} code of a child, which is told `go` when all is in place */
function start (t, code) {
  const file = path.join(t.testdir({ 'child.js': `const net = require('net'); process.once('message', () => { ${code} })` }), 'child.js')
  const { process: child } = forkGuardable(() => /** @type {any} */ ({ process: fork(file) }))
  /** @type {string[][]} */
  const flaws = []
  guardChannel(child, (...flaw) => flaws.push(flaw))
  t.teardown(() => child.kill('SIGKILL'))
  child.send('go')
  return { child, flaws }
}

t.test('a line that is not JSON is a flaw, and messages after it are read', async t => {
  const { child, flaws } = start(t, "require('fs').writeSync(process.channel.fd ?? 3, 'no JSON\\n'); setTimeout(() => process.send('after'), 200)")
  t.same(await once(child, 'message'), ['after', undefined])
  t.match(flaws, [['none', /^Node\.js cannot read it: .*JSON/]])
})

t.test('a message of Node\'s own that has no meaning is a flaw, with its name', async t => {
  const { child, flaws } = start(t, "process.send({ cmd: 'NODE_HANDLE_ACK' }); setTimeout(() => process.send('after'), 200)")
  t.same(await once(child, 'message'), ['after', undefined])
  t.match(flaws, [['NODE_HANDLE_ACK', /^Node\.js cannot read it: /]])
})

t.test('a message that goes on and on is a flaw before it fills the memory', async t => {
  const { child, flaws } = start(t, "process.send('x'.repeat(80 * 1024 * 1024), () => setTimeout(() => process.send('after'), 300))")
  t.same(await once(child, 'message'), ['after', undefined])
  t.match(flaws[0], ['none', 'Node.js cannot read it: a message of more than 67108864 characters'])
})

t.test('an app\'s messages, and sockets that come with them, are none', async t => {
  const { child, flaws } = start(t, "const server = net.createServer().listen(0, '127.0.0.1', () => process.send({ a: 1 }, server))")
  const [message, handle] = await once(child, 'message')
  t.same(message, { a: 1 })
  handle.close()
  t.same(flaws, [])
})

t.test('a connection that is sent as a server is not listened on here', async t => {
  const { child, flaws } = start(t, `const server = net.createServer().listen(0, '127.0.0.1', () => net.connect(server.address().port, '127.0.0.1', function () {
    const fake = new net.Server()
    fake._handle = this._handle
    process.send('a server', fake)
  }))`)
  const [message, handle] = await once(child, 'message')
  t.equal(message, 'a server')
  handle.close()
  t.same(flaws, [])
})
