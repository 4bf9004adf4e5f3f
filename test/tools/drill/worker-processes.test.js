'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { isChild, whyNotKill } = require('../../../lib/tools/drill/remote')

t.test('only children of the process that listens on the control socket are killed', async t => {
  const child = spawn('sleep', ['60'])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-')) // a short path
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'control')
  const server = net.createServer().listen(file)
  t.teardown(() => server.close())
  await once(server, 'listening')
  const fleet = { path: file, pid: process.pid, workers: [{ pid: Number(child.pid) }] }
  t.equal(whyNotKill(fleet), null)
  t.match(whyNotKill({ ...fleet, path: path.join(folder, 'other', 'control') }), /^process \d+ of this machine is not the fleet of .*is it in a container\?$/)
  t.match(whyNotKill({ ...fleet, pid: Number(child.pid) }), /is not the fleet of/)
  t.match(whyNotKill({ ...fleet, workers: [...fleet.workers, { pid: process.pid }] }), new RegExp(`^process ${process.pid} of this machine is no worker of the fleet$`))
  t.ok(isChild(Number(child.pid), process.pid))
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.notOk(isChild(Number(child.pid), process.pid), 'it has exited')
})
