'use strict'

const { spawnSync } = require('node:child_process')
const { setImmediate: turn } = require('node:timers/promises')
const v8 = require('node:v8')
const vm = require('node:vm')
const t = require('tap')
const { GcPauses } = require('../../../lib/worker/vitals/gc-pauses')

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')

/** @param {any} t @param {(work: () => void) => void} [awaitWork] @param {{ addon: null }} [how] */
function start (t, awaitWork, how) {
  const pauses = new GcPauses(awaitWork, how)
  t.teardown(() => clearInterval(pauses.timer ?? undefined))
  return pauses
}

/** Collections are reported a turn of the loop later. @param {GcPauses} pauses @param {(gc: any) => boolean} isSo */
async function takeUntil (pauses, isSo) {
  for (;;) {
    const taken = pauses.take()
    if (isSo(taken.gc)) return taken.gc
    await turn()
  }
}

for (const [by, how] of /** @type {const} */ ([['the addon', undefined], ['an observer', { addon: null }]])) {
  t.test(`by ${by}, mark-sweeps and scavenges are counted apart; counts and totals accumulate, the longest is reset`, async t => {
    const pauses = start(t, undefined, how)
    pauses.take()
    collect()
    const { markSweeps } = await takeUntil(pauses, gc => gc.markSweeps.count > 0)
    t.ok(markSweeps.longestMs > 0)
    t.ok(markSweeps.totalMs >= markSweeps.longestMs)

    const before = pauses.take().gc
    t.equal(before.markSweeps.longestMs, 0, 'none since')
    t.equal(before.markSweeps.totalMs, markSweeps.totalMs, 'but it is kept')

    collect({ type: 'minor' })
    const { scavenges } = await takeUntil(pauses, gc => gc.scavenges.count > before.scavenges.count)
    t.ok(scavenges.longestMs > 0)
    t.ok(scavenges.totalMs >= before.scavenges.totalMs + scavenges.longestMs - 0.01)
  })
}

t.test('a collection is told while it is listened for', async t => {
  const pauses = start(t)
  /** @type {boolean[]} */
  const told = []
  const end = pauses.onCollected(hasMarkSweep => told.push(hasMarkSweep))
  collect()
  while (!told.includes(true)) await turn() // bounded by the timeout of tap
  const { count } = pauses.take().gc.markSweeps
  end()
  collect()
  t.equal((await takeUntil(pauses, gc => gc.markSweeps.count > count)).markSweeps.count, count + 1, 'counted, once')
  told.length = 0
  for (let i = 0; i < 20; i++) await turn()
  t.same(told, [])
})

t.test('the longest delay of the event loop, reported once', t => {
  const pauses = start(t)
  let now = performance.now() + 1e6
  pauses.look(now)
  pauses.take()
  for (const ms of [60, 350, 50]) pauses.look(now += ms)
  t.equal(pauses.take().loopLagMs, 300)
  pauses.look(now += 40)
  t.equal(pauses.take().loopLagMs, 0)
  t.end()
})

t.test('the event loop is looked at while it runs', async t => {
  const pauses = start(t)
  await turn()
  pauses.take()
  for (const until = performance.now() + 300; performance.now() < until;);
  while (pauses.take().loopLagMs < 200) await turn() // tap's timeout bounds it
  t.pass('it was late')
})

t.test('an idle loop is looked at by beats alone, until the next request', async t => {
  /** @type {(() => void)[]} */
  const waiting = []
  const pauses = start(t, work => waiting.push(work))
  let now = performance.now()
  const look = (/** @type {number} */ times) => { for (let i = 0; i < times; i++) pauses.look(now += 50) }
  const block = () => { for (const until = performance.now() + 100; performance.now() < until;); }
  for (let i = 0; i < 5; i++) {
    look(190)
    await turn()
    block() // as a job does every ten seconds
    await turn()
  }
  t.equal(waiting.length, 0)
  // Bounded by the timeout of tap
  const lookUntil = (/** @type {number} */ count) => { while (waiting.length < count) look(1) }
  lookUntil(1)
  t.equal(pauses.timer, null, 'it wakes for beats alone')
  pauses.take()
  pauses.look(now += 800, 500)
  t.equal(pauses.take().loopLagMs, 300)
  pauses.look(now = performance.now() - 800)
  pauses.beat(500)
  t.ok(pauses.take().loopLagMs >= 300, 'of a beat')
  waiting[0]()
  pauses.look(now = performance.now() + 350)
  t.ok(pauses.take().loopLagMs > 290, 'of the request')
  t.not(pauses.timer, null)
  lookUntil(2)
  t.pass('idle again')
})

t.test('it does not keep a process alive', async t => {
  const code = `new (require(${JSON.stringify(require.resolve('../../../lib/worker/vitals/gc-pauses'))}).GcPauses)()`
  const { status, signal } = spawnSync(process.execPath, ['-e', code], { timeout: 30_000 })
  t.same({ status, signal }, { status: 0, signal: null })
})

t.test('what has just been allocated is not old, a large object neither', async t => {
  const { spaces, grownBy } = JSON.parse(spawnSync(process.execPath, ['--expose-gc', '-e', `
    const { oldBytes } = require(${JSON.stringify(require.resolve('../../../lib/worker/vitals/gc-pauses'))})
    const filled = Array.from({ length: 2 ** 18 }, () => 0.5)
    gc()
    const before = oldBytes()
    const large = filled.slice()
    const spaces = require('node:v8').getHeapSpaceStatistics()
    console.log(JSON.stringify({ spaces, grownBy: oldBytes() - before, length: large.length }))`], { encoding: 'utf8' }).stdout)
  t.ok(spaces.find((/** @type {any} */ space) => space.space_name === 'new_large_object_space').space_used_size > 2 ** 20)
  t.ok(grownBy < 2 ** 20, `${grownBy} bytes`)
})
