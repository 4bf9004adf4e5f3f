'use strict'

const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { freePort, FIXTURES } = require('../support/fleet')
const { get } = require('../support/client')
const { Load } = require('../support/load')
const { startActivated, lacking: skip } = require('../support/service-manager')

const file = (/** @type {string} */ name) => path.join(FIXTURES, name)

t.test("the app's listen(port) gets the socket that was passed, and workers see nothing of it", { skip }, async t => {
  const { port, events } = await startActivated(t, ['-w', '2', file('introspect.js')], { sockets: port => [`127.0.0.1:${port}`], names: ['web'] })
  const { status, body } = await get(port) // it has waited in the queue while the fleet started
  t.equal(status, 200)
  t.same(Object.keys(JSON.parse(body).env).filter(name => /^(?:LISTEN|NOTIFY|WATCHDOG)_/.test(name)), [])
  t.match(events.all('fleet.socket'), [{ fd: 3, name: 'web', address: `127.0.0.1:${port}`, msg: `the app listens on the socket that recycle was given as descriptor 3 (web): 127.0.0.1:${port}` }])
  await events.until('worker.ready', { count: 2 })
  process.kill((await events.until('fleet.start')).pid, 'SIGHUP')
  await events.until('fleet.reloaded')
  t.equal((await get(port)).status, 200)
  t.equal(events.all('fleet.socket').length, 1, 'it is the same one after a reload')
  t.same(events.all('fleet.warning'), [])
})

t.test('a socket where the app does not listen is named once', { skip }, async t => {
  const other = await freePort()
  const { port, events } = await startActivated(t, ['-w', '2', file('plain.js')], { sockets: port => [`127.0.0.1:${port}`, other], names: ['web', 'other'] })
  await get(port)
  t.match(await events.until('fleet.warning'), { warning: 'unused-socket', fd: 4, name: 'other', address: `[::]:${other}`, why: 'the app does not listen there' })
  process.kill((await events.until('fleet.start')).pid, 'SIGHUP')
  await events.until('fleet.reloaded')
  t.equal(events.all('fleet.warning').length, 1)
})

t.test('a unix socket keeps its file, although the app deletes it before it listens, and at the end', { skip }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const SOCKET = path.join(folder, 'web')
  const ask = () => new Promise((resolve, reject) => {
    http.get({ socketPath: SOCKET, agent: false }, response => response.resume().once('end', () => resolve(response.statusCode))).once('error', reject)
  })
  const { events, end } = await startActivated(t, ['-w', '2', file('unlinks.js')], { sockets: () => [SOCKET], keeps: true, env: { SOCKET } })
  t.equal(await ask(), 200)
  t.match(await events.until('fleet.socket'), { fd: 3, address: SOCKET })
  await events.until('worker.ready', { count: 2 })
  process.kill((await events.until('fleet.start')).pid, 'SIGTERM')
  await events.until('fleet.stop')
  t.same(fs.readdirSync(folder), ['web'])
  t.equal(await ask(), 200, 'the next fleet answers')
  await end()
})

t.test('after an upgrade the sockets that were passed are still those of the service manager: a unix socket keeps its file, and its queue', { skip }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const SOCKET = path.join(folder, 'web')
  const other = await freePort()
  const ask = () => new Promise((resolve, reject) => {
    http.get({ socketPath: SOCKET, agent: false }, response => response.resume().once('end', () => resolve(response.statusCode))).once('error', reject)
  })
  const { events, end } = await startActivated(t, ['-w', '2', file('unlinks.js')], { sockets: () => [SOCKET, other], names: ['web', 'other'], keeps: true, env: { SOCKET } })
  t.equal(await ask(), 200)
  await events.until('worker.ready', { count: 2 })
  const old = (await events.until('fleet.start')).pid
  process.kill(old, 'SIGUSR2')
  const { pid } = await events.until('fleet.left')
  t.equal(await ask(), 200)
  t.same(events.all('fleet.warning').map(({ warning, fd }) => [warning, fd]), [['unused-socket', 4], ['unused-socket', 4]], 'the new primary has the other one too')
  process.kill(pid, 'SIGTERM')
  await events.until('fleet.stop')
  t.same(fs.readdirSync(folder), ['web'])
  t.equal(await ask(), 200, 'the next fleet answers')
  await end()
})

t.test('a restart of the whole service under load refuses no client', { skip }, async t => {
  const { port, events, end } = await startActivated(t, ['-w', '2', file('plain.js')], { sockets: port => [`127.0.0.1:${port}`], keeps: true })
  t.match(await get(port), { status: 200 })
  await events.until('worker.ready', { count: 2 })
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 10, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (let i = 1; i <= 2; i++) {
    await Promise.all(loads.map(load => load.after(50)))
    process.kill((await events.until('fleet.start', { count: i })).pid, 'SIGTERM')
    await events.until('fleet.stop', { count: i })
    await events.until('worker.ready', { count: 2 * i + 2 })
  }
  await Promise.all(loads.map(load => load.after(50)))
  const counts = await Promise.all(loads.map(load => load.stop()))
  t.same(counts.flatMap(({ failures }) => failures), [], `of ${counts.map(({ requests }) => requests).join(' and ')} requests`)
  t.same(events.all('stopped').map(({ cut }) => cut), [0, 0, 0, 0])
  await end()
})
