'use strict'

/** The file of a unix socket is the fleet's, and where it cannot be kept, that is told. */

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const t = require('tap')
const { shortFolder } = require('../support/control')
const { startFleet, FIXTURES } = require('../support/fleet')
const { compile, lacking: skip } = require('../support/preloaded')
const { startUpgradable } = require('../support/upgrade')

/**
 * A fleet whose workers delete the file of their socket before they listen.
 *
 * @param {any} t @param {Record<string, string>} env
 */
async function startUnlinking (t, env) {
  const folder = path.join(shortFolder(t), 'sockets')
  fs.mkdirSync(folder)
  const SOCKET = path.join(folder, 'web')
  const cli = await startUpgradable(t, [path.join(FIXTURES, 'unlinks.js')], { workers: 1, env: { SOCKET, ...env } })
  let reloads = 0
  return {
    ...cli,
    folder,
    ask: () => new Promise(resolve => http.get({ socketPath: SOCKET, agent: false }, response => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', ({ code }) => resolve(code))),
    reload () {
      process.kill(cli.primary(), 'SIGHUP')
      return cli.events.until('fleet.reloaded', { count: ++reloads })
    }
  }
}

t.test('where hard links are refused, the file that every worker deletes before it listens exists all the same', { skip }, async t => {
  const { folder, ask, reload, child, events, primary, areGone } = await startUnlinking(t, { LD_PRELOAD: compile(t, 'no-hard-links.cc') })
  for (let i = 0; i < 2; i++) {
    t.equal(await ask(), 200)
    await reload()
  }
  t.equal(await ask(), 200)
  child.kill('SIGUSR2')
  await events.until('fleet.left')
  t.equal(await ask(), 200, 'after an upgrade, too')
  await reload()
  t.equal(await ask(), 200)
  t.same(events.all('fleet.warning'), [])
  process.kill(primary(), 'SIGTERM')
  t.ok(await areGone())
  t.same(fs.readdirSync(folder), [], 'nothing is left')
})

t.test('where links of any kind are refused, it is told', { skip }, async t => {
  const { ask, events } = await startUnlinking(t, { LD_PRELOAD: compile(t, 'no-hard-links.cc'), NO_SYMLINKS: '1' })
  t.equal(await ask(), 200)
  t.match(events.all('fleet.warning'), [{ warning: 'unix-socket', file: /sockets\/web$/, why: /^it cannot be given a second name \(EPERM: .*\): an app that deletes it before it listens leaves no client a way to connect$/ }])
})

t.test('when its folder is deleted, it is told, and a reload opens it anew', async t => {
  const { folder, ask, reload, events, child, exited } = await startUnlinking(t, {})
  fs.renameSync(folder, `${folder}-old`) // at once, with both names
  fs.rmSync(`${folder}-old`, { recursive: true })
  t.match(await events.until('fleet.warning'), { warning: 'unix-socket', why: /^it has been deleted, and so has its second name: no client can connect until recycle reload/ })
  t.equal(await ask(), 'ENOENT')
  fs.mkdirSync(folder)
  await reload()
  t.equal(await ask(), 200)
  fs.rmSync(path.join(folder, 'web'))
  while (!fs.existsSync(path.join(folder, 'web'))) await new Promise(resolve => setImmediate(resolve))
  t.equal(await ask(), 200, 'it is looked after as before')
  t.equal(events.all('fleet.warning').length, 1)
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('an address with the pid of its worker in it is closed when the worker has been replaced, and none adds up', async t => {
  const folder = shortFolder(t)
  const app = path.join(folder, 'app.js')
  fs.writeFileSync(app, `const http = require('node:http')
    for (const where of [process.env.PORT, __dirname + '/' + process.pid + '.sock']) http.createServer((request, response) => response.end()).listen(where)`)
  const { supervisor, events } = await startFleet(t, app, { workers: 2 })
  for (let i = 0; i < 4; i++) await supervisor.recycle(i % 2)
  await events.until('fleet.address-closed', { count: 4 })
  t.equal(supervisor.parts.listeningSockets.list().length, 3, 'the port, and one of each worker')
  t.same(fs.readdirSync(folder).filter(name => name.endsWith('.sock')).sort(), supervisor.status().workers.map(({ pid }) => `${pid}.sock`).sort())
})
