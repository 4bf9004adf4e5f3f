'use strict'

/** A fleet does not depend on its control socket, and gets it back. */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { controlRoom } = require('../support/control')
const { startCli, FIXTURES } = require('../support/fleet')
const { compile, lacking } = require('../support/preloaded')
const { becomesTrue } = require('../support/processes')

const PLAIN = path.join(FIXTURES, 'plain.js')
/** In a mount namespace of its own, where nothing can be written but /proc, /sys and /dev. */
const READ_ONLY = ['unshare', '--mount', ...process.getuid?.() === 0 ? [] : ['--map-root-user'], 'sh', '-c', 'for place in / $(cut -d" " -f2 /proc/self/mounts | grep -E "^/(tmp|run)"); do mount -o remount,bind,ro $place || exit; done; exec "$0" "$@"']
const { status: unshared, stderr } = spawnSync(READ_ONLY[0], [...READ_ONLY.slice(1), 'true'])

t.test('a control socket whose file or folder is deleted is opened anew, and no fleet of its name starts beside it', async t => {
  const room = controlRoom(t)
  const { child, events, exited } = await room.start(1, ['--name', 'api', PLAIN])
  for (const [i, target] of [room.folder, path.join(room.folder, 'api.sock')].entries()) {
    fs.rmSync(target, { recursive: true })
    t.match(await events.until('fleet.control', { count: i + 1 }), { path: path.join(room.folder, 'api.sock') })
    t.match(JSON.parse((await room.call(['status', '--json'])).stdout), { name: 'api', pid: child.pid })
    t.same(fs.readdirSync(room.folder), ['api.sock'])
    t.match(await room.recycle(['--name', 'api', PLAIN]), { code: 2, stderr: new RegExp(`belongs to a running fleet, pid ${child.pid}:`) })
  }
  t.equal(fs.statSync(room.folder).mode & 0o777, 0o700)
  t.same(events.all('fleet.warning'), [])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.same(fs.readdirSync(room.folder), [])
})

t.test('a deleted socket whose place another fleet has taken is that one\'s; it is said once', async t => {
  const room = controlRoom(t)
  const file = path.join(room.folder, 'api.sock')
  const first = await room.start(1, ['--name', 'api', PLAIN])
  first.child.kill('SIGSTOP')
  fs.rmSync(file)
  const second = await room.start(1, ['--name', 'api', PLAIN])
  first.child.kill('SIGCONT')
  t.match(await first.events.until('fleet.warning'), { warning: 'not-operated', why: new RegExp(`belongs to a running fleet, pid ${second.child.pid}:`) })
  second.child.kill('SIGTERM')
  await second.exited
  await first.events.until('fleet.control')
  t.match(JSON.parse((await room.call(['status', '--json'])).stdout), { pid: first.child.pid })
  t.equal(first.events.all('fleet.warning').length, 1)
})

t.test('a folder that another user could have made keeps no fleet from starting: it is told, and tried again', async t => {
  const room = controlRoom(t)
  fs.mkdirSync(room.folder)
  fs.chmodSync(room.folder, 0o777)
  const { port, events } = await room.start(1, [PLAIN])
  t.match(events.all('fleet.warning'), [{ warning: 'not-operated', why: /^the control socket .*plain\.sock cannot be opened: other users may write to .*sockets \(mode 777\); the fleet runs without it, and tries again$/ }])
  t.match(await get(port), { status: 200 })
  t.same(fs.readdirSync(room.folder), [])
  fs.rmdirSync(room.folder)
  await events.until('fleet.control')
  t.match(await room.call(['status']), { code: 0 })
  t.equal(events.all('fleet.warning').length, 1)
})

t.test('with a read-only root the service starts, with one warning', { skip: unshared !== 0 && String(stderr) }, async t => {
  const { port, events, child, exited } = await startCli(t, ['-w', '1', PLAIN], { under: () => READ_ONLY, env: { RECYCLE_CONTROL_DIR: '', RECYCLE_CONTROL: '', XDG_RUNTIME_DIR: '', TMPDIR: '/tmp' } })
  await events.until('worker.ready')
  t.match(await get(port), { status: 200 })
  t.match(events.all('fleet.warning'), [{ warning: 'not-operated', why: /\/tmp\/recycle-\d+\/plain\.sock cannot be opened: .*read-only file system/i }])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('a file system without hard links has a control socket all the same, and one fleet of a name', { skip: lacking }, async t => {
  const room = controlRoom(t)
  const preloaded = { LD_PRELOAD: compile(t, 'no-hard-links.cc') }
  const { child, events } = await room.start(1, ['--name', 'api', PLAIN], preloaded)
  t.match(await room.call(['status', '--name', 'api']), { code: 0 })
  t.same(fs.readdirSync(room.folder), ['api.sock'])
  t.match(await room.recycle(['--name', 'api', PLAIN], preloaded), { code: 2, stderr: /belongs to a running fleet/ })
  t.same(events.all('fleet.warning'), [])
  child.kill('SIGKILL')
  const second = await room.start(1, ['--name', 'api', PLAIN], preloaded)
  t.match(JSON.parse((await room.call(['status', '--json'])).stdout), { pid: second.child.pid }, 'a stale one is taken over')
  second.child.kill('SIGTERM')
  await second.exited
  t.ok(await becomesTrue(() => fs.readdirSync(room.folder).length === 0))
})
