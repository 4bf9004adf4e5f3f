'use strict'

/**
 * The addon, and fleets with it, on platforms that this machine is not: arm64 by qemu, and musl by a program that plays
 * Node.js for the addon.
 */

const { execFileSync } = require('node:child_process')
const path = require('node:path')
const t = require('tap')
const { ARCHS, prebuiltFile } = require('../../lib/native/prebuilds')
const { sourceHash } = require('../prebuild')
const { arm64Node, lackingArm64 } = require('../support/arm64')
const { clientPerWorker, get } = require('../support/client')
const { longAlone } = require('../support/campaign')
const { controlRoom } = require('../support/control')
const { startCli, FIXTURES } = require('../support/fleet')
const { lacking } = require('../support/program')

const ADDON = path.join(__dirname, '..', '..', 'lib', 'native', 'addon')
const PATIENCE = { timeoutMs: 120_000 }
// Qemu is, by a factor of ten
const SLOW = ['--ready-timeout', '120s', '--drain-timeout', '60s', '--stuck-timeout', '60s']

t.test('musl: the addon loads, keeps reads and what waits in a queue, and forks a copy that ends', { skip: lacking('musl-gcc') || (!ARCHS.includes(process.arch) && 'there is no addon for this machine') }, async t => {
  const host = path.join(t.testdir(), 'host')
  execFileSync('musl-gcc', ['-std=c11', '-fPIE', '-pie', '-rdynamic', path.join(FIXTURES, 'musl', 'host.c'), '-o', host])
  const [source, ...lines] = execFileSync(host, [prebuiltFile(ADDON, process.arch, 'musl')], { encoding: 'utf8' }).trimEnd().split('\n')
  t.equal(source, `source ${sourceHash(ADDON)}`)
  t.equal(lines.length, 13)
  for (const line of lines) t.match(line, /^ok /)
})

t.test('without the addon a fleet says at the start, and in its status, what it lacks; --fork mold is refused', async t => {
  const room = controlRoom(t)
  const without = { NODE_OPTIONS: '--no-addons' } // as on a platform for which there is none
  const { events } = await room.start(1, [path.join(FIXTURES, 'plain.js')], without)
  const lacks = [/^where an event loop is blocked is not known: the addon cannot be loaded: /, /^connections die with their worker: the addon cannot be loaded: /]
  t.match(events.all('fleet.warning').map(({ msg }) => msg), lacks)
  const { stdout } = await room.recycle(['status'])
  for (const sentence of lacks) t.match(stdout.split('\n').find(line => sentence.test(line)), /; npm run build:addon, in the package's folder, builds one$/)
  const { code, stderr } = await room.recycle(['--fork', 'mold', path.join(FIXTURES, 'plain.js')], without)
  t.equal(code, 2)
  t.match(stderr, /^recycle: --fork mold does not work here: the addon cannot be loaded: .*; --fork spawn does$/m)
})

const skip = lackingArm64()

// In the suite the workers of a mold: it is spawned, and they are moved to and from as those that are spawned.
for (const fork of ['spawn', 'mold']) {
  t.test(`arm64, --fork ${fork}: a fleet starts, and is reloaded without a client noticing`, { skip: skip || (fork === 'spawn' && longAlone('10')) }, async t => {
    const { port, events, child, exited } = await startCli(t, ['-w', '1', '--fork', fork, ...SLOW, path.join(FIXTURES, 'answers.js')], { node: arm64Node().node })
    await events.until('worker.ready', PATIENCE)
    const clients = await clientPerWorker(t, port, 1, 'x-pid')
    const over = new AbortController()
    const answers = [...clients.values()].map(async agent => {
      const all = []
      for (; !over.signal.aborted; await new Promise(resolve => setTimeout(resolve, 200))) all.push(await get(port, '/echo/a', { agent }))
      return all
    })
    child.kill('SIGHUP')
    await events.until('recycled', PATIENCE)
    over.abort()
    for (const all of await Promise.all(answers)) {
      t.same(all.filter(({ status, reused }) => status !== 200 || !reused), [], `${all.length} requests on one connection`)
    }
    for (const agent of clients.values()) {
      const { headers, reused } = await get(port, '/echo/b', { agent })
      t.ok(reused)
      t.notOk(clients.has(Number(headers['x-pid'])), 'it has moved to a new worker')
    }
    t.same(events.all('fleet.warning'), [])
    t.equal(events.all('mold.ready').length, fork === 'mold' ? 2 : 0)
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })
  })
}

// qemu has no TCP_INFO, by which the primary knows what a dead worker has read: here that one runs on this machine.
t.test('arm64: connections of a worker that is killed go on in another one', { skip }, async t => {
  const { port, events } = await startCli(t, ['-w', '2', ...SLOW, path.join(FIXTURES, 'dies.js')], { env: { NODE_OPTIONS: `--require ${arm64Node().preload}` } })
  await events.until('worker.ready', { count: 2, ...PATIENCE })
  const clients = await clientPerWorker(t, port, 2)
  const [[pid, agent]] = clients
  await new Promise(resolve => setTimeout(resolve, 1000)) // the primary has a descriptor of each connection
  const waiting = get(port, '/replayed', { agent })
  await new Promise(resolve => setTimeout(resolve, 500))
  process.kill(pid, 'SIGKILL')
  const { status, body } = await waiting
  t.equal(status, 200)
  t.match(body, / 1$/, 'it was handled by another worker')
  t.match(await events.until('worker.crash'), { pid, replayed: 1, answered: 0, cut: 0 })
})
