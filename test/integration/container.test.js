'use strict'

/** Fleets in a memory cgroup of the kernel. With RECYCLE_LONG=1 the leak runs for five minutes. */

const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { get } = require('../support/client')
const { BIN, FIXTURES, freePort, startCli } = require('../support/fleet')
const { Load } = require('../support/load')
const { formatStatus } = require('../../lib/operate/control-table')
const { MemoryCgroup, noCgroups } = require('../support/memory-cgroup')
const { runToEnd } = require('../support/processes')

const MIB = 1024 ** 2
const LEAKY = path.join(__dirname, '..', '..', 'examples', 'leaky.js') // 50 KB a request
const RUN_MS = extent({ short: 0, long: 300_000 }) // and until four workers were replaced
const skip = noCgroups

/**
 * A fleet in a cgroup, with what it knows of itself.
 *
 * @param {any} t tap's
 * @param {MemoryCgroup} cgroup
 * @param {string[]} args
 */
async function startIn (t, cgroup, args) {
  const fleet = await startCli(t, ['--admin', '0', '-i', '100ms', ...args], { under: () => cgroup.within })
  const { url, workers } = { ...await fleet.events.until('fleet.admin'), workers: Number(args[args.indexOf('-w') + 1]) }
  await fleet.events.until('worker.ready', { count: workers })
  const ask = async (/** @type {string} */ what) => (await get(Number(new URL(url).port), what)).body
  return { ...fleet, ask, status: async () => JSON.parse(await ask('/status')) }
}

t.test('a leak that the kernel ends without recycle goes on with it, and nothing is dropped', { skip, timeout: RUN_MS + 120_000 }, async t => {
  const limitBytes = 320 * MIB
  const bare = new MemoryCgroup(t, limitBytes)
  const port = await freePort()
  const ended = runToEnd([...bare.within, process.execPath, LEAKY], { env: { PORT: String(port) }, timeoutMs: 120_000 })
  while ((await get(port)).status !== 200);
  const hasEnded = ended.then(() => true)
  const first = new Load({ port, connections: 64, thinkMs: 0 })
  await hasEnded
  const { failures: lost } = await first.stop()
  t.equal((await ended).signal, 'SIGKILL')
  t.equal(bare.kills, 1, 'by the kernel')
  t.ok(lost.length > 0)

  const cgroup = new MemoryCgroup(t, limitBytes)
  const { port: fleetPort, events, status, child, exited } = await startIn(t, cgroup, ['-w', '2', '--max-rss', 'auto', LEAKY])
  const load = new Load({ port: fleetPort, connections: 32, thinkMs: 100 })
  await new Promise(resolve => setTimeout(resolve, RUN_MS))
  await events.until('recycled', { count: 4 })
  const { memory, totals } = await status()
  const { requests, failures } = await load.stop()
  t.same(failures, [], `of ${requests} requests over ${totals.recycles} recycles`)
  t.match(memory, { limitBytes, source: /^cgroup v[12]$/, oomKills: 0 })
  t.ok(memory.usedBytes < limitBytes)
  t.equal(cgroup.kills, 0)
  t.same(events.all('worker.crash'), [])
  for (const { cut } of events.all('recycled')) t.equal(cut, 0)
  child.kill('SIGTERM')
  t.match(await exited, { code: 0 })
  t.comment(`${requests} requests, ${totals.recycles} recycles`)
})

t.test('a worker that the kernel kills for want of memory is told from one that is killed otherwise', { skip }, async t => {
  const cgroup = new MemoryCgroup(t, 256 * MIB)
  const { port, events, ask, status } = await startIn(t, cgroup, ['-w', '2', path.join(FIXTURES, 'leaky.js')])
  // Some 50 MB a second: several looks fall between the warning and the limit
  const load = new Load({ port, connections: 4, thinkMs: 80 })
  const crash = await events.until('worker.crash')
  await load.stop()
  t.match(crash, { signal: 'SIGKILL', oomKilled: true, msg: /^crashed slot \d \(\d+\): killed by the kernel, because memory ran out \(SIGKILL\), \d+ connections/ })
  t.match((await events.until('fleet.warning', { where: line => line.warning === 'memory-limit' })).msg, /are used of the memory limit of 256 MiB \(cgroup v[12]\)/)
  // The kernel may have killed both.
  let ready
  do ready = (await status()).workers.filter((/** @type {any} */ worker) => worker.state === 'ready'); while (ready.length < 2)
  process.kill(ready[0].pid, 'SIGKILL')
  const second = await events.until('worker.crash', { where: line => line.oomKilled === false })
  t.match(second, { signal: 'SIGKILL', msg: /\(\d+\): SIGKILL, / })
  const metrics = await ask('/metrics')
  t.equal(Number(/^recycle_oom_kills_total (\d+)$/m.exec(metrics)?.[1]), events.all('worker.crash').filter(line => line.oomKilled).length)
  t.match(metrics, new RegExp(`^recycle_memory_limit_bytes\\{source="cgroup v[12]"\\} ${256 * MIB}$`, 'm'))
})

t.test('where the memory has no room for a replacement, workers drain first, and nothing is dropped', { skip }, async t => {
  const cgroup = new MemoryCgroup(t)
  const { port, events, child, status } = await startIn(t, cgroup, ['-w', '3', '--max-unavailable', '1', path.join(FIXTURES, 'large.js')])
  const load = new Load({ port, connections: 10 })
  const knows = async (/** @type {(memory: any) => boolean} */ isSo) => {
    while (!isSo((await status()).memory ?? {}));
  }
  // A limit that leaves room for the fleet to grow, but not for one more worker.
  cgroup.limit(4096 * MIB)
  await knows(({ limitBytes, freshBytes }) => limitBytes === 4096 * MIB && freshBytes > 60 * MIB)
  const { usedBytes, freshBytes } = (await status()).memory
  const tight = 4096 * Math.ceil((usedBytes + 0.6 * freshBytes) / 4096)
  cgroup.limit(tight)
  await knows(({ limitBytes }) => limitBytes === tight)
  child.kill('SIGHUP')
  await events.until('recycled', { count: 3 })
  t.same(events.all('recycled').map(({ how, cut }) => ({ how, cut })), Array(3).fill({ how: 'drain-first', cut: 0 }))
  const said = events.all('worker.no-room')
  t.equal(said.length, 3)
  t.match(said[0], { how: 'drain-first', level: 40, msg: /^no room in memory for a replacement beside slot \d \(\d+\): the worker drains first$/ })

  cgroup.limit(4096 * MIB)
  await knows(({ limitBytes }) => limitBytes === 4096 * MIB)
  child.kill('SIGHUP')
  await events.until('recycled', { count: 6 })
  t.ok(events.all('recycled').slice(3).some(({ how }) => how === 'surge'), 'beside it another may drain first')
  t.equal(events.all('worker.no-room').length, 3)
  const { requests, failures } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
})

t.test('--max-rss auto of an app that takes twice its share: as many workers as fit, no kill, nothing dropped', { skip, timeout: RUN_MS + 120_000 }, async t => {
  const cgroup = new MemoryCgroup(t, 512 * MIB)
  const { port, events, exited, child } = await startCli(t, ['-i', '100ms', '--max-rss', 'auto', path.join(FIXTURES, 'heavy.js')], { under: () => cgroup.within })
  await events.until('worker.ready')
  const load = new Load({ port, connections: 8, thinkMs: 20 })
  await load.after(RUN_MS || 400)
  t.match(events.all('fleet.scale'), [{ from: Number, to: 1, reason: 'memory', slots: [0] }])
  t.match(events.all('fleet.warning').filter(line => line.warning === 'few-workers').at(-1), { workers: 1, msg: /not enough for more, as a worker takes 1\d\d MiB when it is new/ })
  const { budget } = events.all('worker.budget')[0]
  t.ok(budget.softBytes > 160 * MIB, `${budget.softBytes}`)
  const { requests, failures } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(cgroup.kills, 0)
  t.same(events.all('worker.condemn'), [])
  child.kill('SIGTERM')
  t.match(await exited, { code: 0 })
})

t.test('where the memory has no room for a replacement and no worker may be missing, a worker that is due stays until there is', { skip }, async t => {
  const cgroup = new MemoryCgroup(t)
  const { events, status } = await startIn(t, cgroup, ['-w', '1', '--max-age', '4s', path.join(FIXTURES, 'large.js')])
  const tighten = async () => {
    let memory
    do memory = (await status()).memory ?? {}; while (!(memory.limitBytes === 4096 * MIB &&
      memory.freshBytes > 60 * MIB))
    cgroup.limit(4096 * Math.ceil((memory.usedBytes + 0.6 * memory.freshBytes) / 4096))
  }
  cgroup.limit(4096 * MIB)
  await tighten()
  t.match(await events.until('worker.no-room'), { how: 'wait', slot: 0, level: 40, msg: /^no room in memory for a replacement beside slot 0 \(\d+\): the worker stays until there is, because --max-unavailable is 0$/ })
  t.match((await status()).workers, [{ slot: 0, waitsForRoom: true }])
  t.match(formatStatus(await status()), /^no room in memory to replace slot 0: the worker stays until there is$/m)
  t.same(events.all('recycled'), [])
  cgroup.limit(4096 * MIB)
  t.match(await events.until('recycled'), { reason: 'age', how: 'surge', cut: 0 })
  t.equal(events.all('worker.no-room').length, 1)
})

t.test('--print-config has the arithmetic of the cgroup', { skip }, async t => {
  const cgroup = new MemoryCgroup(t, 512 * MIB)
  const { stdout } = await runToEnd([...cgroup.within, process.execPath, BIN, '--print-config', '--config', 'none', '-w', '3', '-m', 'auto'])
  t.match(stdout, /^maxRss +auto \(95 MiB\) +--max-rss$/m)
  t.match(stdout, /^maxRss = \(512 MiB of the cgroup v[12] − 80 MiB for the primary − 51\.2 MiB margin\) ÷ \(3 workers \+ 1 beside them\) = 95 MiB, /m)
})

t.test('V8 of a container has a limit of its own: below the budget it is said, and --heap auto sets it', { skip }, async t => {
  const cgroup = new MemoryCgroup(t, 600 * MIB)
  const { events } = await startIn(t, cgroup, ['-w', '1', '--max-rss', '400MiB', path.join(FIXTURES, 'plain.js')])
  t.match((await events.until('fleet.warning', { where: line => line.warning === 'heap-limit' })).msg,
    /^V8 lets the heap of a worker grow to 3\d\d MiB, below the budget of 400 MiB: .*; set --heap auto \(with --max-rss\), or --node-option --max-old-space-size=450$/)
  const other = await startIn(t, new MemoryCgroup(t, 600 * MIB), ['-w', '1', '--max-rss', '400MiB', '--heap', 'auto', path.join(FIXTURES, 'plain.js')])
  t.same((await other.events.until('fleet.start')).execArgv, ['--max-old-space-size=450'])
  t.same(other.events.all('fleet.warning').filter(line => line.warning === 'heap-limit'), [])
})
