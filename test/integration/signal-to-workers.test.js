'use strict'

/** `recycle signal`: the app's own listeners, which the kernel's SIGHUP does not reach. */

const path = require('node:path')
const t = require('tap')
const { controlRoom } = require('../support/control')
const { startFleet, FIXTURES } = require('../support/fleet')

t.test('the listeners of each worker are called, once, and no worker ends', async t => {
  const { supervisor, told, events } = await startFleet(t, 'reopens.js', { workers: 2, standby: 1 })
  await events.until('worker.standby')
  const pids = events.all('worker.spawn').map(({ pid }) => pid).sort()
  t.match(await supervisor.signal('hup'), { event: 'fleet.signal', signal: 'SIGHUP', workers: 3, told: 3, failed: [] })
  await told.until('reopened', { count: 3 })
  t.same(told.all('reopened').map(({ pid }) => pid).sort(), pids)
  t.match(told.all('reopened')[0], { signal: 'SIGHUP', number: 1 })
  t.match(await supervisor.signal('SIGUSR1'), { workers: 3, told: 0, failed: [{ message: /^the app has no listener for SIGUSR1/ }, {}, {}] })
  t.same([...events.all('worker.crash'), ...events.all('worker.drain')], [])
})

t.test('from the command line: what was told, and exit code 1 where a worker has no listener', async t => {
  const room = controlRoom(t)
  await room.start(1, ['--name', 'shop', path.join(FIXTURES, 'reopens.js')])
  t.match(await room.recycle(['signal', 'SIGHUP']), { code: 0, stdout: 'shop: SIGHUP to the app in 1 of 1 worker\n' })
  t.match(await room.recycle(['signal', 'USR2', 'shop']), { code: 1, stdout: 'shop: SIGUSR2 to the app in 0 of 1 worker\n', stderr: /slot 0: the app has no listener for SIGUSR2, in the worker with pid \d+\n$/ })
  t.match(await room.recycle(['signal', 'SIGTERM']), {
    code: 2,
    stderr: 'recycle: the signal was given "SIGTERM"; it takes SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH; recycle stop ends the fleet, and recycle recycle <slot> replaces a worker\n'
  })
  t.match(await room.recycle(['signal', 'SIGNALS']), { code: 2, stderr: 'recycle: the signal was given "SIGNALS"; it takes SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH\n' })
})
