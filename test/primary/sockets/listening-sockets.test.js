'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { ListeningSockets } = require('../../../lib/primary/sockets/listening-sockets')

const QUERY = { address: '127.0.0.1', port: 0, addressType: 4 }

/** @param {any} t @returns {ListeningSockets} */
function openListeners (t) {
  const listeners = new ListeningSockets()
  t.teardown(() => listeners.closeAll())
  return listeners
}

/** @param {any} handle @returns {number} */
function portOf (handle) {
  const name = /** @type {any} */ ({})
  handle.getsockname(name)
  return name.port
}

/** A process that accepts from a listening socket and sends back what it gets. @param {any} t @param {any} handle */
async function startEcho (t, handle) {
  const program = "require('node:net').createServer(s => s.pipe(s)).listen({ fd: 3 }, () => console.log('listening'))"
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit', handle.fd] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(/** @type {import('node:stream').Readable} */ (child.stdout), 'data')
  return child
}

t.test('the first worker opens a socket, the others share it with its options', async t => {
  const listeners = openListeners(t)
  const first = listeners.open('a', QUERY, { keys: 1 }, 'worker 1')
  const second = listeners.open('a', QUERY, { keys: 2 }, 'worker 2')
  t.equal(first.errno, 0)
  t.equal(second.handle, first.handle)
  t.same(second.data, { keys: 1 })
  t.ok(portOf(first.handle) > 0, 'it is bound')
  t.not(listeners.open('b', QUERY, null, 'worker 1').handle, first.handle, 'another address, another socket')
})

t.test('an address that is not available gives an errno, and is tried again the next time', async t => {
  const listeners = openListeners(t)
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const query = { ...QUERY, port: /** @type {net.AddressInfo} */ (taken.address()).port }
  t.equal(listeners.open('a', query, null, 'worker 1').errno, -os.constants.errno.EADDRINUSE)
  taken.close()
  await once(taken, 'close')
  t.equal(listeners.open('a', query, null, 'worker 1').errno, 0)
})

t.test('what no listen() asks for, but an app can send, is refused or ignored', async t => {
  const listeners = openListeners(t)
  t.equal(listeners.open('mode', { ...QUERY, readableAll: true, writableAll: true }, null, 'worker 1').errno, 0, 'TCP has no mode')
  for (const address of [null, '', 'a\0b', '192.0.2.1']) {
    for (const port of [null, -1, -5, 65536]) {
      for (const addressType of [null, -1, 4, 7]) {
        const key = JSON.stringify([address, port, addressType])
        t.type(listeners.open(key, /** @type {any} */ ({ address, port, addressType }), null, 'worker 1').errno, 'number', key)
        listeners.leave(key, 'worker 1')
      }
    }
  }
})

t.test('a fleet has 1,000 addresses, so that no worker takes all descriptors of the primary', async t => {
  const listeners = openListeners(t)
  const open = (/** @type {number} */ i) => listeners.open(`key ${i}`, QUERY, null, 'worker 1').errno
  t.same(new Set(Array.from({ length: 1000 }, (_, i) => open(i))), new Set([0]))
  t.equal(open(1000), -os.constants.errno.EMFILE)
  t.equal(open(5), 0, 'one that is open already')
  listeners.leave('key 7', 'worker 1')
  t.equal(open(1000), 0, 'another has been given up')
  for (let i = 0; i <= 1000; i++) listeners.leave(`key ${i}`, 'worker 1')
})

t.test('an address of another machine is refused at once', async t => {
  const listeners = openListeners(t)
  t.ok(listeners.open('a', { ...QUERY, address: '192.0.2.1' }, null, 'worker 1').errno < 0)
})

t.test('the queue outlives the workers: connections in it are served by the next worker', async t => {
  const listeners = openListeners(t)
  const { handle } = listeners.open('a', QUERY, null, 'worker 1')
  const first = await startEcho(t, handle)
  first.kill('SIGKILL')
  await once(first, 'exit')
  listeners.forget('worker 1')

  const client = net.connect(portOf(handle), '127.0.0.1')
  await once(client, 'connect')
  client.write('still here?')
  const { handle: again } = listeners.open('a', QUERY, null, 'worker 2')
  t.equal(again, handle)
  await startEcho(t, again)
  const [chunk] = await once(client, 'data')
  t.equal(String(chunk), 'still here?')
  client.destroy()
})

t.test('an address is released when every app that listens on it has closed its server', async t => {
  const listeners = openListeners(t)
  const { handle } = listeners.open('a', QUERY, null, 'worker 1')
  listeners.open('a', QUERY, null, 'worker 2')
  handle.listen(16)
  const port = portOf(handle)
  listeners.leave('a', 'worker 1')
  const client = net.connect(port, '127.0.0.1')
  await once(client, 'connect')
  client.destroy()
  listeners.leave('a', 'worker 2')
  const late = net.connect(port, '127.0.0.1')
  const [error] = await once(late, 'error')
  t.equal(error.code, 'ECONNREFUSED')
  t.not(listeners.open('a', QUERY, null, 'worker 3').handle, handle)
})

t.test('a worker that has exited does not release its address', async t => {
  const listeners = openListeners(t)
  const { handle } = listeners.open('a', QUERY, null, 'worker 1')
  listeners.forget('worker 1')
  listeners.leave('b', 'worker 1')
  t.equal(listeners.open('a', QUERY, null, 'worker 2').handle, handle)
})

t.test('a unix socket whose absolute path is too long for the kernel is opened by its relative one', async t => {
  const listeners = openListeners(t)
  const folder = path.join(t.testdir({}), 'x'.repeat(60))
  fs.mkdirSync(folder)
  const before = process.cwd()
  process.chdir(folder)
  t.teardown(() => process.chdir(before))
  const { errno, handle } = listeners.open('a', { address: path.join(folder, 's'.repeat(60)), asked: 's'.repeat(60), port: -1, addressType: -1 }, null, 'worker 1')
  t.equal(errno, 0)
  t.equal(handle.listen(1), 0)
  t.ok(fs.existsSync('s'.repeat(60)))
})

t.test('a unix socket file that another process has replaced is left alone', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'app.sock')
  const query = { address: file, asked: file, port: -1, addressType: -1 }
  for (const isFleet of [false, true]) {
    const [ours, theirs] = [new ListeningSockets(), new ListeningSockets()]
    t.equal(ours.open('a', query, null, 'worker 1').errno, 0)
    // The link that restores the file can be deleted too
    for (const name of [file, `${file}.recycle`]) fs.rmSync(name, { force: true })
    const other = net.createServer(socket => socket.end('theirs'))
    if (isFleet) {
      const { handle } = theirs.open('a', query, null, 'worker 2')
      await once(other.listen(handle), 'listening')
    } else {
      await once(other.listen(file), 'listening')
    }
    const before = fs.readdirSync(folder)
    ours.leave('a', 'worker 1')
    t.same(fs.readdirSync(folder), before)
    const client = net.connect(file)
    t.equal(String(await once(client, 'data')), 'theirs')
    other.close()
    theirs.leave('a', 'worker 2')
    await once(other, 'close')
    t.same(fs.readdirSync(folder), [], 'the close of the sockets deletes it')
  }
})

t.test('a successor finds the sockets open under their keys, and the predecessor lets go of them without a trace', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'app.sock')
  const old = new ListeningSockets()
  const tcp = old.open('a', QUERY, { keys: 1 }, 'old worker').handle
  old.open('b', { ...QUERY, address: file, asked: file, port: -1, addressType: -1 }, undefined, 'old worker')
  t.match(old.list(), [{ key: 'a', file: null, data: { keys: 1 } }, { key: 'b', file }])

  const young = openListeners(t)
  // In another process each handle is a copy of its own, whose close() deletes no file.
  for (const { key, handle, ...about } of old.list()) young.inherit({ key, ...about }, key === 'b' ? fakeHandle() : handle)
  t.equal(young.open('a', QUERY, { keys: 2 }, 'new worker').handle, tcp)
  t.same(young.open('a', QUERY, { keys: 2 }, 'new worker').data, { keys: 1 }, 'with what the old workers shared')
  t.equal(young.open('b', { ...QUERY, address: file, asked: file, port: -1, addressType: -1 }, undefined, 'new worker').errno, 0)

  old.letGo()
  t.same(old.list(), [])
  t.ok(fs.existsSync(file), 'the file of a unix socket stays')
  young.leave('b', 'new worker')
  t.notOk(fs.existsSync(file), 'and goes when the last worker has closed that server')
})

t.test('what no worker has asked for is closed when the predecessor has left', async t => {
  const young = openListeners(t)
  const [used, unused] = [fakeHandle(), fakeHandle()]
  young.inherit({ key: 'a', file: null }, used)
  young.inherit({ key: 'b', file: null }, unused)
  young.open('a', QUERY, undefined, 'worker')
  young.closeUnused()
  t.same([used.closed, unused.closed], [0, 1])
  young.leave('a', 'worker')
})

/** A listening handle that counts how often it is closed. */
function fakeHandle () {
  return {
    closed: 0,
    close () { this.closed++ },
    unref () {}
  }
}
