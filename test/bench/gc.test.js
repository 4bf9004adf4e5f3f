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
const { longAlone } = require('../support/campaign')
const { freePort } = require('../support/fleet')

t.test('bench:gc --quick loads by autocannon, counts collections, faults and recycles, and claims no count of drops', { skip: longAlone('15', 'npm run test:bench') }, async t => {
  const profiles = ['default', 'huge-heap', 'no-mark-sweep']
  const { said, results, figures } = await quickBench(t, 'gc', ['--profiles', profiles.join(',')])
  const group = 'garbage, 1 worker, 4 connections, saturation'
  t.match(said, `${group}, beside default`)
  t.match(results, { bench: 'gc', settings: { generator: 'autocannon' } })
  const all = profiles.map(profile => figures(group, profile))
  const [plain, huge] = all
  for (const {
    generator, requests, unanswered, dropped, cut, crashes, recycles, rps, p50, p999, max, rssPeakMiB, rssMeanMiB
  } of all) {
    t.same({ generator, requests, unanswered, dropped, cut, crashes, recycles }, { generator: 'autocannon', requests: 300, unanswered: 0, dropped: undefined, cut: 0, crashes: 0, recycles: 0 })
    t.ok(rps > 0 && max >= p999 && p999 >= p50 && p50 > 0)
    t.ok(rssPeakMiB >= rssMeanMiB && rssMeanMiB > 40)
  }
  t.ok(plain.scavenges > 2 * huge.scavenges, `a new space of its full size is scavenged less often: ${huge.scavenges} beside ${plain.scavenges}`)
  t.ok(plain.scavengeMs >= plain.longestScavengeMs && plain.longestScavengeMs > 0)
  t.equal(huge.markSweeps, 0)
  t.notMatch(said, 'dropped')
})

t.test('this Node knows the flags of every profile, and each app answers', { skip: longAlone('5', 'npm run test:bench') }, async t => {
  for (const profile of PROFILES) {
    const { nodeOption } = optionsOf(profile, 'garbage')
    if (nodeOption.length > 0) await t.resolves(promisify(execFile)(process.execPath, [...nodeOption, '-e', '0']), `${profile}: ${nodeOption.join(' ')}`)
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
