'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const t = require('tap')
const { socketName } = require('../../../lib/core/orphan')
const { loadAddon } = require('../../../lib/native/addon')
const { CLOSED, OrphanProcess } = require('../../../lib/primary/adoption/orphan-process')

const { addon } = loadAddon()
const skip = addon === null && 'there is no addon for this machine'

t.test('an orphan that closes the connection is not waited for', { skip }, async t => {
  const family = `test-${process.pid}`
  const server = net.createServer(socket => socket.destroy())
  t.teardown(() => server.close())
  await once(server.listen({ path: socketName(family, process.pid) }), 'listening')
  t.equal(await OrphanProcess.find(addon, family, process.pid), CLOSED)
})

t.test('one that ends as it is asked has ended', { skip }, async t => {
  const family = `test-${process.pid}`
  const name = `require(${JSON.stringify(require.resolve('../../../lib/core/orphan'))}).socketName(${JSON.stringify(family)}, process.pid)`
  const child = spawn(process.execPath, ['-e', `net.createServer(() => process.exit()).listen({ path: ${name} }, () => console.log('ready'))`], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  t.equal(await OrphanProcess.find(addon, family, Number(child.pid)), null)
})
