'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
require('../support/bare-children')
const { openControlSocket } = require('../../lib/control/open-socket')
const { encode } = require('../../lib/control/protocol')
const { shortFolder } = require('../support/control')

/** A server that sends the greeting of a fleet. @param {any} t tap's @param {number} [pid] */
function greeter (t, pid = process.pid) {
  const server = net.createServer(socket => {
    socket.on('error', () => {})
    socket.write(encode({ hello: { name: 'api', pid, app: '/app.js', version: '0' } }))
  })
  t.teardown(() => server.close())
  return server
}

/** The socket file that a killed process leaves behind. @param {string} file */
async function leaveStale (file) {
  const child = spawn(process.execPath, ['-e', `require('node:net').createServer().listen(${JSON.stringify(file)}, () => console.log('up'))`], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

t.test('a socket by name: the folder is 0700, the socket 0600 whatever the umask, and both are created', async t => {
  const folder = path.join(shortFolder(t), 'sockets')
  const before = process.umask(0)
  t.teardown(() => process.umask(before))
  const { path: file } = await openControlSocket(greeter(t), { name: 'api', control: null }, { RECYCLE_CONTROL_DIR: folder })
  t.equal(file, path.join(folder, 'api.sock'))
  t.equal(fs.statSync(folder).mode & 0o777, 0o700)
  t.equal(fs.statSync(file).mode & 0o777, 0o600)
  t.equal(process.umask(), 0, 'the umask is as it was')
})

t.test('a path given by the user is used as it is, its folder too', async t => {
  const file = path.join(shortFolder(t), 'x')
  t.equal((await openControlSocket(greeter(t), { name: 'api', control: file })).path, file)
  t.equal(fs.statSync(file).mode & 0o777, 0o600)
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: '/no/such/folder/x' }), { code: 'RECYCLE_CONTROL', message: 'the control socket /no/such/folder/x cannot be opened: there is no such folder' })
})

t.test('a stale socket is taken over', async t => {
  const file = path.join(shortFolder(t), 'api.sock')
  await leaveStale(file)
  t.ok(fs.lstatSync(file).isSocket())
  await openControlSocket(greeter(t), { name: 'api', control: file })
  const client = net.connect(file)
  t.teardown(() => client.destroy())
  t.match(JSON.parse(String(await once(client, 'data'))), { hello: { pid: process.pid } })
  t.same(fs.readdirSync(path.dirname(file)), ['api.sock'], 'nothing else is left')
})

t.test('of several processes that find it stale at once, one takes it over, and the others name its pid', async t => {
  for (let round = 0; round < 5; round++) {
    const file = path.join(shortFolder(t), 'api.sock')
    await leaveStale(file)
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(pid => openControlSocket(greeter(t, pid), { name: 'api', control: file })))
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled') + 1
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const { reason } of /** @type {any[]} */ (outcomes.filter(({ status }) => status === 'rejected'))) {
      t.match(reason, { code: 'RECYCLE_CONTROL_TAKEN', details: { pid: winner } })
    }
    t.same(fs.readdirSync(path.dirname(file)), ['api.sock'])
  }
})

t.test('a socket whose file was deleted, and whose name another has taken, closes with its server, and the file of the other stays', async t => {
  const file = path.join(shortFolder(t), 'api.sock')
  const [first, second] = [greeter(t, 1), greeter(t, 2)]
  const claimed = await openControlSocket(first, { name: 'api', control: file })
  fs.unlinkSync(file)
  const taken = await openControlSocket(second, { name: 'api', control: file })
  claimed.release()
  first.close()
  await once(first, 'close')
  const client = net.connect(file)
  t.teardown(() => client.destroy())
  t.match(JSON.parse(String(await once(client, 'data'))), { hello: { pid: 2 } })
  client.destroy()
  taken.release()
  second.close()
  t.same(fs.readdirSync(path.dirname(file)), [], 'the second deletes its own')
})

t.test('a refused one is closed, and leaves no file behind', async t => {
  const file = path.join(shortFolder(t), 'api.sock')
  await openControlSocket(greeter(t), { name: 'api', control: file })
  const late = greeter(t)
  await t.rejects(openControlSocket(late, { name: 'api', control: file }), { code: 'RECYCLE_CONTROL_TAKEN' })
  t.notOk(late.listening)
  t.same(fs.readdirSync(path.dirname(file)), ['api.sock'])
})

t.test('a path in use is refused with the pid of the fleet and the option that avoids it', async t => {
  const folder = path.join(shortFolder(t), 'sockets')
  const env = { RECYCLE_CONTROL_DIR: folder }
  const { path: file } = await openControlSocket(greeter(t, 4711), { name: 'api', control: null }, env)
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: null }, env), {
    code: 'RECYCLE_CONTROL_TAKEN', exitCode: 2, message: `the control socket ${file} belongs to a running fleet, pid 4711: recycle reload has it run new code; or give this one a name of its own by --name`
  })
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: file }), { message: /pid 4711: recycle reload .* give this one another path by --control$/ })
})

t.test('a socket of another program is left alone', async t => {
  const file = path.join(shortFolder(t), 'api.sock')
  const other = net.createServer(socket => socket.end()).listen(file)
  t.teardown(() => other.close())
  await once(other, 'listening')
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: file }), { code: 'RECYCLE_CONTROL_TAKEN', message: /belongs to a running fleet that does not answer/ })
  t.ok(fs.lstatSync(file).isSocket())
})

t.test('a file or a symbolic link in its place is left alone', async t => {
  const folder = shortFolder(t)
  const [file, link] = ['file', 'link'].map(name => path.join(folder, name))
  fs.writeFileSync(file, 'mine')
  fs.symlinkSync(path.join(folder, 'dangling'), link)
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: file }), { code: 'RECYCLE_CONTROL', message: /the path exists and is not a socket$/ })
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: link }), { code: 'RECYCLE_CONTROL', message: /it is a symbolic link$/ })
  t.equal(fs.readFileSync(file, 'utf8'), 'mine')
  t.same(fs.readdirSync(folder).sort(), ['file', 'link'])
})

t.test('a path that is too long is refused, not cut off', async t => {
  const folder = shortFolder(t)
  await t.rejects(openControlSocket(greeter(t), { name: 'x'.repeat(64), control: path.join(folder, 'y'.repeat(107)) }), { code: 'RECYCLE_CONTROL', message: /a unix socket allows 107$/ })
  t.same(fs.readdirSync(folder), [])
})

t.test('a successor takes the place of its predecessor at once: some fleet answers at any time', async t => {
  const folder = path.join(shortFolder(t), 'sockets')
  const env = { RECYCLE_CONTROL_DIR: folder }
  const old = greeter(t)
  const first = await openControlSocket(old, { name: 'api', control: null }, env)
  const hello = async () => {
    const socket = net.connect(first.path)
    const [chunk] = await once(socket, 'data')
    socket.destroy()
    return JSON.parse(String(chunk)).hello.pid
  }
  await t.rejects(openControlSocket(greeter(t), { name: 'api', control: null, predecessor: 4711 }, env), { code: 'RECYCLE_CONTROL_TAKEN' }, 'it is another fleet\'s')
  const second = await openControlSocket(greeter(t, 99), { name: 'api', control: null, predecessor: process.pid }, env)
  t.equal(await hello(), process.pid, 'the old one answers until then')
  second.publish()
  t.equal(await hello(), 99)
  t.equal(fs.statSync(second.path).mode & 0o777, 0o600)
  first.release()
  old.close()
  await once(old, 'close')
  t.equal(await hello(), 99, 'what the old one gives up is not the new one\'s')
  t.same(fs.readdirSync(folder), ['api.sock'])
  second.release()
  t.same(fs.readdirSync(folder), [])
})
