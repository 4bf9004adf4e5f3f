'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const t = require('tap')
const { get, clientPerWorker } = require('../support/client')
const { startCli, startFleet, BIN, FIXTURES } = require('../support/fleet')
const { becomesTrue, livingOfGroup, runToEnd } = require('../support/processes')

const APP = path.join(FIXTURES, 'misbehaves.js')

/** @param {any} t tap's @param {any} fleet @param {number} mostMs until all of it is gone after SIGTERM */
async function stopsWithin (t, { child, exited }, mostMs) {
  const began = performance.now()
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  const tookMs = performance.now() - began
  t.ok(tookMs < mostMs, `it took ${Math.round(tookMs)} ms of ${mostMs}`)
  t.same(livingOfGroup(child.pid), [])
}

t.test('a request that takes longer is cut, and named, in time', async t => {
  const fleet = await startCli(t, ['-w', '2', '--stop-timeout', '5s', APP])
  const { port, events, out } = fleet
  await events.until('worker.ready', { count: 2 })
  const slow = get(port, '/slow?ms=60000')
  t.ok(await becomesTrue(() => out.length === 1), 'it is in flight')
  await stopsWithin(t, fleet, 5000)
  t.match(await slow, { error: 'ECONNRESET' })
  const cut = events.all('stopped').filter(line => line.cut > 0)
  t.match(cut, [{ cut: 1, lost: false, cuts: [{ path: '/slow' }] }])
  const [{ time: stoppingAt }] = events.all('fleet.stopping')
  t.ok(cut[0].time - stoppingAt >= 2400, 'it had half of the time')
})

t.test('so is a worker whose event loop is blocked, and an app that ignores SIGTERM', async t => {
  const fleet = await startCli(t, ['-w', '2', '--stop-timeout', '5s', APP], { env: { SWALLOW: '1' } })
  const { port, events } = fleet
  await events.until('worker.ready', { count: 2 })
  const [[pid, agent]] = await clientPerWorker(t, port, 2)
  const spun = get(port, '/spin', { agent })
  await events.until('worker.ready', { count: 2 })
  await stopsWithin(t, fleet, 5000)
  await spun
  t.match(events.all('worker.retire').find(line => line.pid === pid), { signal: 'SIGKILL' })
  t.same(events.all('worker.retire').map(({ killedFor }) => killedFor).sort(), ['kill-timeout', 'no-account'].sort())
})

t.test('and so are processes that a worker has started, which ignore SIGTERM', { skip: process.platform !== 'linux' }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-stop-'))
  t.teardown(() => {
    for (const pid of fs.readFileSync(path.join(folder, 'daemons'), 'utf8').trim().split('\n')) process.kill(Number(pid), 'SIGKILL')
    fs.rmSync(folder, { recursive: true })
  })
  const fleet = await startCli(t, ['-w', '1', '--stop-timeout', '6s', path.join(FIXTURES, 'starts-children.js'), folder])
  await fleet.events.until('worker.ready')
  await stopsWithin(t, fleet, 6000)
  t.match(fleet.events.all('worker.children'), [{ killed: Number }])
  t.ok(fleet.events.all('worker.children')[0].killed > 0)
})

t.test('it is of a stop alone: a recycle has the drain timeout', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 1, stopTimeout: '3s', replay: 'off' })
  const slow = get(port, '/slow?ms=2500')
  await becomesTrue(() => supervisor.status().workers[0].inFlight === 1)
  t.match(await supervisor.recycle(0), { cut: 0, finished: 1 }) // longer than the 900 ms of a stop
  t.match(await slow, { status: 200 })
  t.match(events.all('fleet.start')[0].options, { drainTimeoutMs: 30_000, stopTimes: { drainMs: 900, killMs: 600 } })
})

t.test('what contradicts it gets one sentence and exit code 2, and --print-config has the sum', async t => {
  const run = (/** @type {string[]} */ ...args) => runToEnd([process.execPath, BIN, ...args, APP], { env: { PORT: '0' } })
  for (const args of [['--drain-timeout', '30s'], ['--kill-timeout', '9s']]) {
    const { code, stderr } = await run('--stop-timeout', '10s', ...args)
    t.equal(code, 2)
    t.match(stderr, new RegExp(`${args[0]} was given "${args[1]}"; it takes a time of at most \\S+s with --stop-timeout 10s`))
    t.equal(stderr.trim().split('\n').length, 1)
  }
  t.match(await run('--stop-timeout', '30s', '--stop-delay', '4s', '--print-config'), { code: 0, stdout: 'stopTimeout = 4s before the stop + 16s to drain + 5s from SIGTERM to SIGKILL + 5s for the rest' })
})
