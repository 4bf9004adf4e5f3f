'use strict'

const { quickBench, BENCH } = require('../support/bench')
const { spawn, execFile } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { promisify } = require('node:util')
const t = require('tap')
const { load } = require('../../bench/support/load')
const { parseTrace, reasonsOf } = require('../../bench/support/gc-log')
const { APPS, PROFILES, optionsOf } = require('../../bench/support/gc-profiles')
const { freePort } = require('../support/fleet')

t.test('bench:gc --quick loads by autocannon, counts collections, faults and recycles, and claims no count of drops', async t => {
  const { said, results, figures } = await quickBench(t, 'gc', ['--profiles', 'default,huge-heap,no-mark-sweep'])
  const group = 'garbage, 1 worker, 4 connections, saturation'
  t.match(said, `${group}, beside default`)
  t.match(results, { bench: 'gc', settings: { generator: 'autocannon' } })
  const [plain, huge, published] = ['default', 'huge-heap', 'no-mark-sweep'].map(profile => figures(group, profile))
  for (const { generator, requests, unanswered, dropped, cut, crashes, recycles, rps, p50, p999, max, rssPeakMiB, rssMeanMiB } of [plain, huge, published]) {
    t.same({ generator, requests, unanswered, dropped, cut, crashes, recycles }, { generator: 'autocannon', requests: 300, unanswered: 0, dropped: undefined, cut: 0, crashes: 0, recycles: 0 })
    t.ok(rps > 0 && max >= p999 && p999 >= p50 && p50 > 0)
    t.ok(rssPeakMiB >= rssMeanMiB && rssMeanMiB > 40)
  }
  t.ok(plain.scavenges > huge.scavenges, `a new space of its full size is scavenged less often: ${huge.scavenges} beside ${plain.scavenges}`)
  t.ok(plain.scavengeMs >= plain.longestScavengeMs && plain.longestScavengeMs > 0)
  t.equal(huge.markSweeps, 0)
  t.notMatch(said, 'dropped')
})

t.test('the raw generator counts drops and holds a rate; its results are saved in a file of their own, and so is a run by both', async t => {
  const raw = await quickBench(t, 'gc', ['--generator', 'raw', '--load', 'saturation,rate', '--profiles', 'huge-heap'])
  t.match(raw.results, { bench: 'gc-raw', settings: { generator: 'raw' } })
  for (const load of ['saturation', 'a fixed rate']) {
    const { generator, requests, dropped, refused, errors } = raw.figures(`garbage, 1 worker, 4 connections, ${load}`, 'huge-heap')
    t.same({ generator, requests, dropped, refused, errors }, { generator: 'raw', requests: 300, dropped: 0, refused: 0, errors: {} })
  }
  t.equal(raw.figures('garbage, 1 worker, 4 connections, a fixed rate', 'huge-heap').rate, 200)
  const both = await quickBench(t, 'gc', ['--generator', 'autocannon,raw', '--profiles', 'default'])
  t.match(both.results, { bench: 'gc-generators', groups: [{ beside: [], subjects: [{ name: 'default, by autocannon' }, { name: 'default, by raw' }] }] })
  await t.rejects(quickBench(t, 'gc', ['--load', 'rate']), { code: 2, stderr: 'bench:gc: --load rate takes --generator raw; autocannon does not time a request from when it was due\n' })
})

t.test('at a fixed rate each round has a rate of its own, the same for all profiles', async t => {
  const { results } = await quickBench(t, 'gc', ['--generator', 'raw', '--load', 'rate', '--rate', '0', '--rounds', '2', '--requests', '50'])
  const [plain, huge] = results.groups[0].subjects.map((/** @type {any} */ subject) => subject.rounds.map((/** @type {any} */ round) => round.rate))
  t.equal(plain.length, 2)
  t.same(huge, plain)
  t.ok(plain.every((/** @type {number} */ rate) => rate > 0) && new Set(plain).size > 1, `found anew: ${plain}`)
})

t.test('a worker that is recycled instead of collecting keeps its counts', async t => {
  const { figures } = await quickBench(t, 'gc', ['--generator', 'raw', '--apps', 'leak', '--profiles', 'default', '--load', 'rate', '--rate', '3000', '--requests', '12000'])
  const { recycles, dropped, cut, markSweeps, longestMarkSweepMs, markSweepMs, reasons, cpuS } = figures('leak, 1 worker, 4 connections, a fixed rate', 'default')
  t.ok(recycles >= 1, `${recycles} recycles`)
  t.equal(dropped, 0)
  t.equal(cut, 0)
  t.ok(markSweeps >= 1 && markSweepMs >= longestMarkSweepMs, `${markSweeps} mark-sweeps`)
  t.equal(Object.values(reasons).reduce((sum, count) => sum + count, 0), markSweeps, JSON.stringify(reasons))
  t.ok(cpuS > 0)
})

t.test('this Node knows the flags of every profile, and each app answers', async t => {
  for (const profile of PROFILES) {
    const { nodeOption } = optionsOf(profile, 'garbage')
    await t.resolves(promisify(execFile)(process.execPath, [...nodeOption, '-e', '0']), `${profile}: ${nodeOption.join(' ')}`)
  }
  await Promise.all(Object.keys(APPS).map(async app => {
    const port = await freePort()
    const child = spawn(process.execPath, ['-e', `require(${JSON.stringify(path.join(BENCH, 'apps', app))}); process.send('up')`], { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child, 'message')
    const { requests, dropped, errors } = await load({ port, connections: 2, requests: 20 })
    t.same({ requests, dropped }, { requests: 20, dropped: 0 }, `${app} ${JSON.stringify(errors)}`)
  }))
})

t.test('the output of --trace-gc is parsed, for each version of V8', t => {
  const text = `1000.5
[29489:0x1de043d0]     1228 ms: Scavenge 4.7 (6.2) -> 4.5 (5.5) MB, 14.14 / 0.00 ms  (average mu = 1.000, current mu = 1.000) task; 
[29861:0x421d0000]      161 ms: Scavenge 5.6 (6.9) -> 5.1 (7.6) MB, pooled: 0.0 MB, 6.82 / 0.00 ms (average mu = 1.000, current mu = 1.000) allocation failure; 
[31598:0x40f933d0]      806 ms: Mark-Compact 437.6 (525.3) -> 319.5 (519.0) MB, 21.32 / 0.00 ms  (+ 39.7 ms in 324 steps since start of marking, biggest step 8.1 ms, walltime since start of marking 132 ms) (average mu = 1.000, current mu = 1.000) finalize incremental marking via task; GC in old space requested
[31598:0x40f933d0]      900 ms: Mark-Compact (reduce) 437.6 (525.3) -> 319.5 (519.0) MB, pooled: 1 MB, 3.00 / 0.00 ms  (average mu = 0.900, current mu = 0.800) external memory limit; GC in old space requested
[16444:0xc2fe0000]      950 ms: Incremental Mark-Compact 272.4 (322.9) -> 19.5 (76.4) MB, pooled: 178.5 MB, 14.80 / 0.00 ms (+ 45.2 ms in 55 steps since start of marking, biggest step 29.8 ms, walltime since start of marking 82 ms) (average mu = 0.981, current mu = 0.988) finalize incremental marking via task; GC in old space requested
not a line of it`
  t.same(parseTrace(text), [
    { t: 2228.5, isMajor: false, pauseMs: 14.14, totalMs: 14.14, reason: 'task' },
    { t: 1161.5, isMajor: false, pauseMs: 6.82, totalMs: 6.82, reason: 'allocation failure' },
    { t: 1806.5, isMajor: true, pauseMs: 21.32, totalMs: 61.02, reason: 'finalize incremental marking via task' },
    { t: 1900.5, isMajor: true, pauseMs: 3, totalMs: 3, reason: 'external memory limit' },
    { t: 1950.5, isMajor: true, pauseMs: 14.8, totalMs: 60, reason: 'finalize incremental marking via task' }
  ])
  const cut = '[1:0x1] 5 ms: Scavenge 4.7 (6.2) -> 4.5 (5.5) MB, 14'
  t.throws(() => parseTrace(`1000\n${cut}\n`), { message: `a line of --trace-gc that is not known: ${cut}` }, 'no line is skipped silently')
  t.same(parseTrace(`1000\n${cut}`), [], 'except for the line cut off by the end of its worker')
  const rounds = [{ reasons: { task: 1, 'external memory limit': 2 } }, null, { reasons: { task: 4 } }]
  t.same(reasonsOf({ subjects: [{ name: 'default', rounds }, { name: 'none', rounds: [{ reasons: {} }] }] }), ['default mark-swept: 5 × task, 2 × external memory limit'])
  t.end()
})
