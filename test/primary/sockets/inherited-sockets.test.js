'use strict'

const { spawn } = require('node:child_process')
const dgram = require('node:dgram')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { InheritedSockets } = require('../../../lib/primary/sockets/inherited-sockets')
const { becomesTrue } = require('../../support/processes')

const MODULE = require.resolve('../../../lib/primary/sockets/inherited-sockets')

/**
 * Another process, which is given these descriptors from 3 on: what it makes of them.
 *
 * @param {number[]} descriptors @param {string} program
 */
async function inProcess (descriptors, program) {
  const head = `const { InheritedSockets } = require(${JSON.stringify(MODULE)}); const sockets = new InheritedSockets(${JSON.stringify(descriptors.map((_, i) => ({ fd: 3 + i, name: null })))});`
  const child = spawn(process.execPath, ['-e', `${head} process.stdout.write(JSON.stringify(${program}), () => process.exit())`], { stdio: ['ignore', 'pipe', 'inherit', ...descriptors] })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', text => { said += text })
  await once(child, 'close')
  return JSON.parse(said)
}

/** @param {any} t @param {any} where @returns {Promise<any>} */
async function listen (t, where) {
  const server = net.createServer().listen(where)
  t.teardown(() => server.close())
  await once(server, 'listening')
  return server
}

t.test('each descriptor is known by its address, or there is a reason why it is not listened on', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle inherited '))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const socketPath = path.join(folder, 'web')
  const name = `recycle-${process.pid}`
  const [tcp, six, unix, abstract] = [await listen(t, { port: 0, host: '127.0.0.1' }), await listen(t, { port: 0, host: '::1' }), await listen(t, socketPath), await listen(t, `\0${name}`)]
  const client = net.connect(tcp.address().port, '127.0.0.1')
  t.teardown(() => client.destroy())
  const udp = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  t.teardown(() => udp.close())
  await Promise.all([once(client, 'connect'), once(udp, 'listening')])
  const file = fs.openSync(__filename, 'r')
  t.teardown(() => fs.closeSync(file))

  const descriptors = [tcp, six, unix, abstract, client].map(({ _handle }) => _handle.fd)
  const unclaimed = await inProcess([...descriptors, /** @type {any} */ (udp)[Object.getOwnPropertySymbols(udp).find(({ description }) => description === 'state symbol') ?? ''].handle.fd, file], 'sockets.unclaimed')
  const why = 'the app does not listen there'
  t.same(unclaimed.sort((/** @type {any} */ a, /** @type {any} */ b) => a.fd - b.fd), [
    { fd: 3, name: null, address: `127.0.0.1:${tcp.address().port}`, why },
    { fd: 4, name: null, address: `[::1]:${six.address().port}`, why },
    { fd: 5, name: null, address: socketPath, why },
    { fd: 6, name: null, address: `@${name}`, why },
    { fd: 7, name: null, address: null, why: 'it is a connection (Accept=yes in its unit)' },
    { fd: 8, name: null, address: null, why: 'it is not a stream socket' },
    { fd: 9, name: null, address: null, why: 'it is not a stream socket' }
  ])
})

t.test('a socket is taken once, until it is given back', async t => {
  const { port } = (await listen(t, { port: 0, host: '127.0.0.1' })).address()
  const server = await listen(t, { port: 0, host: '127.0.0.1' })
  t.not(server.address().port, port)
  const query = JSON.stringify({ address: null, port: server.address().port })
  const outcome = await inProcess([server._handle.fd], `(() => {
    const first = sockets.take(${query})
    const second = sockets.take(${query})
    sockets.giveBack(first)
    return { isTaken: first.fd === 3, isTwice: second !== undefined, again: sockets.take(${query}) === first, unclaimed: sockets.unclaimed }
  })()`)
  t.same(outcome, { isTaken: true, isTwice: false, again: true, unclaimed: [] })
})

t.test('a unix socket that another primary has taken over is looked after there', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'web')
  const server = await listen(t, file)
  const sockets = new InheritedSockets([])
  sockets.inherit({ fd: 3, name: null, path: file, address: null, port: null }, server._handle)
  const spare = `${file}.recycle`
  fs.rmSync(spare)
  t.ok(await becomesTrue(() => fs.existsSync(spare)))
  sockets.letGo()
  fs.rmSync(spare)
  await setTimeout(200)
  t.notOk(fs.existsSync(spare))
})
