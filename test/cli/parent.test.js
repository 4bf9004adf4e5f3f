'use strict'

/** What starts recycle: a parent with an IPC channel, a shell as PID 1. */

const { fork, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { freePort, startCli, BIN, FIXTURES } = require('../support/fleet')
const { shellAsInit } = require('../../lib/cli/ancestors')

const PLAIN = path.join(FIXTURES, 'plain.js')
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child', ...process.getuid?.() === 0 ? [] : ['--map-root-user']]
const { status, stderr } = spawnSync('unshare', [...UNSHARE, 'true'])

t.test('a parent with an IPC channel hears ready when every worker is, and its shutdown is a stop', async t => {
  const port = await freePort()
  const child = fork(BIN, ['-w', '2', '--control', 'none', '--log', 'silent', PLAIN], { env: { ...process.env, PORT: String(port) } })
  t.teardown(() => child.kill('SIGKILL'))
  const [message] = await once(child, 'message')
  t.equal(message, 'ready')
  t.match(await get(port, '/'), { status: 200 })
  const exited = once(child, 'exit')
  child.send('hello')
  child.send('shutdown')
  t.same(await exited, [0, null])
})

t.test('PID 1 that is a shell or npm is named; another init is not', async t => {
  const of = (/** @type {string[]} */ ...command) => shellAsInit([{ pid: 7, command: ['sh', '-c', 'recycle app.js'] }, { pid: 1, command: [...command, ''] }])
  for (const command of [['npm start'], ['node', '/usr/bin/npm', 'start'], ['/bin/sh', '-c', 'recycle app.js; true'], ['bash', 'run.sh'], ['node', '/opt/yarn/bin/yarn.js', 'start']]) {
    t.equal(of(...command), command.join(' '))
  }
  for (const command of [['/sbin/init'], ['/usr/bin/tini', '--', 'recycle'], ['docker-init', '--', 'sh'], ['node', 'supervisor.js'], ['/lib/systemd/systemd']]) t.equal(of(...command), null)
  t.equal(shellAsInit([{ pid: 7, command: ['sh'] }, { pid: 6, command: ['npm start'] }]), null, 'no PID 1 among them')
})

t.test('a shell as PID 1 is said once', { skip: status !== 0 && String(stderr) }, async t => {
  const under = ['unshare', ...UNSHARE, 'sh', '-c', '"$@"; exit $?', 'sh']
  const { events } = await startCli(t, ['-w', '1', '--control', 'none', PLAIN], { under: () => under })
  const { command } = await events.until('fleet.warning', { where: ({ warning }) => warning === 'shell-as-init' })
  t.match(command, /^sh -c/)
  await events.until('worker.ready')
  t.equal(events.all('fleet.warning').filter(({ warning }) => warning === 'shell-as-init').length, 1)
})
