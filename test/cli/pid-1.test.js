'use strict'

require('../support/bare-children')
const { spawn, spawnSync } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')
const t = require('tap')
const { childrenOf } = require('../support/processes')
const { BIN, FIXTURES, Events, freePort, startFleet } = require('../support/fleet')

// A process namespace, as of a container, in which the program is PID 1; inside a user namespace if the test is not run by root.
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child', ...process.getuid?.() === 0 ? [] : ['--map-root-user']]
const { error, status, stderr } = spawnSync('unshare', [...UNSHARE, 'true'])
const skip = (error || status !== 0) && `process namespaces are not available: ${error?.message ?? String(stderr).trim()}`

t.test('as PID 1 it warns that an init is needed, and is not upgraded', { skip }, async t => {
  const child = spawn('unshare', [...UNSHARE, process.execPath, BIN, '--log', 'json', '-w', '1', path.join(FIXTURES, 'plain.js')], {
    env: { ...process.env, PORT: String(await freePort()) }, stdio: ['ignore', 'ignore', 'pipe']
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  t.teardown(() => {
    child.kill('SIGKILL')
    return exited
  })
  const events = new Events()
  readline.createInterface({ input: child.stderr }).on('line', text => events.push(JSON.parse(text)))
  await events.until('worker.ready')
  t.equal((await events.until('fleet.start')).pid, 1)
  const [warning, ...more] = events.all('fleet.warning')
  t.match(warning, { level: 40, warning: 'pid-1', msg: /docker run --init/ })
  t.same(more, [])
  process.kill(pidInside(child.pid), 'SIGUSR2')
  t.match(await events.until('fleet.upgrade-failed'), { why: /^recycle is PID 1, and the container ends with it/ })
  t.equal(events.all('worker.spawn').length, 1)
})

/** The one child of `unshare`, by its pid out here. @param {number | undefined} pid */
function pidInside (pid) {
  return childrenOf(Number(pid))[0].pid
}

t.test('as any other process it does not warn', async t => {
  const { events } = await startFleet(t, 'plain.js', { workers: 1 })
  t.same(events.all('fleet.warning'), [])
})
