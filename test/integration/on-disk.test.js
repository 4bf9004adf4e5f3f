'use strict'

/** What is on disk changes under a running fleet: the app's release, Node.js, the package of recycle. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startCli } = require('../support/fleet')

const ROOT = path.join(__dirname, '..', '..')
const release = (/** @type {number} */ number) => ({ 'app.js': `require('node:http').createServer((request, response) => response.end('release ${number}')).listen(process.env.PORT)` })

t.test('a link that is switched: a reload runs the new release, a recycle before it the old one; the journal and status name the file', async t => {
  const folder = fs.realpathSync(t.testdir({ releases: { 1: release(1), 2: release(2) } }))
  const current = path.join(folder, 'current')
  fs.symlinkSync('releases/1', current)
  const { port, child, events } = await startCli(t, ['-w', '1', '--stop-linger', '0', 'app.js'], { cwd: current, env: { PWD: current } })
  const { pid } = await events.until('worker.ready')
  fs.rmSync(current)
  fs.symlinkSync('releases/2', current)
  process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { count: 2 })
  t.match(await get(port), { body: 'release 1' }, 'a recycle stays in its generation')
  child.kill('SIGHUP')
  await events.until('fleet.reloaded')
  t.match(await get(port), { body: 'release 2' })
  fs.rmSync(path.join(folder, 'releases', '1'), { recursive: true })
  process.kill((await events.until('worker.ready', { count: 3 })).pid, 'SIGKILL')
  await events.until('worker.ready', { count: 4 })
  t.match(await get(port), { body: 'release 2' })
  const file = (/** @type {number} */ of) => path.join(folder, 'releases', String(of), 'app.js')
  t.same(events.all('worker.spawn').map(({ app }) => app), [file(1), file(1), file(2), file(2)])
})

t.test('a Node.js that is gone from the disk: workers start all the same, and a warning says so', async t => {
  const node = path.join(t.testdir(), 'node')
  try {
    fs.linkSync(process.execPath, node)
  } catch {
    fs.copyFileSync(process.execPath, node)
  }
  const { port, events } = await startCli(t, ['-w', '1', path.join(__dirname, '..', 'fixtures', 'plain.js')], { node })
  const { pid } = await events.until('worker.ready')
  fs.rmSync(node)
  process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { count: 2 })
  t.match(await get(port), { status: 200 })
  t.match(events.all('fleet.warning'), [{ warning: 'node', was: node, node: '/proc/self/exe' }])
})

t.test('a package that is replaced on disk: workers run the code with which the fleet started, and a warning says so', async t => {
  const folder = t.testdir({})
  for (const part of ['bin', 'lib', 'package.json']) fs.cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const { version } = require('../../package.json')
  const program = path.join(folder, 'start.js')
  fs.writeFileSync(program, `const { supervise } = require('./lib')
    const supervisor = supervise({ app: ${JSON.stringify(path.join(__dirname, '..', 'fixtures', 'plain.js'))}, workers: 2, canary: 1, bake: '10s', undecided: 'go', log: 'json' })
    process.on('SIGHUP', () => supervisor.reload())`)
  const { port, child, events } = await startCli(t, [], { program })
  const { pid } = await events.until('worker.ready', { count: 2 })
  const about = path.join(folder, 'package.json')
  fs.writeFileSync(about, fs.readFileSync(about, 'utf8').replace(`"version": "${version}"`, '"version": "99.0.0"'))
  fs.rmSync(path.join(folder, 'lib'), { recursive: true })
  process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { count: 3 })
  t.match(await get(port), { status: 200 })
  child.kill('SIGHUP')
  t.match(await events.until('canary.verdict'), { isGood: true }, 'all that a reload needs was loaded before')
  await events.until('fleet.reloaded')
  t.match(await get(port), { status: 200 })
  t.match(events.all('fleet.warning'), [{ warning: 'package', found: '99.0.0', version, msg: /^the installed recycle is 99\.0\.0, this fleet runs/ }])
})
