'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { REASONS } = require('../../../lib/tables/reasons')
const { Sampler } = require('../../../lib/primary/measuring/sampler')
const { RecycleError } = require('../../../lib/core/errors')
const { Heapdumps } = require('../../../lib/features/heapdump/primary')
const { Warnings } = require('../../../lib/primary/warnings')

const MIB = 1024 ** 2
const DAY_MS = 24 * 3600 * 1000

/** @param {any} t tap's @param {Record<string, any>} [options] */
function primary (t, options = {}) {
  const folder = path.join(t.testdir({ dumps: {} }), 'dumps')
  let files = 0
  const kernel = {
    at: 0,
    rssBytes: 100 * MIB,
    /** What a worker answers. @type {Record<string, any>} */
    outcome: { why: null, bytes: 5, pauseMs: 7.6, moved: 2 },
    options: { heapdumpsPerDay: 1, heapdumpDir: folder, heapdumpLimitBytes: 1024 * MIB, ...options },
    /** @type {any[]} */
    lines: [],
    /** @type {any[]} */
    calls: [],
    now: () => kernel.at,
    record: (/** @type {string} */ event, /** @type {any} */ fields) => {
      kernel.lines.push({ event, ...fields })
      return { event, ...fields }
    },
    changed: () => kernel.calls.push('changed'),
    commands: { recycle: async (/** @type {number} */ slot) => ({ event: 'recycled', slot }) },
    sampler: {
      whyHurry: Sampler.prototype.whyHurry,
      read: async () => ({ rssBytes: kernel.rssBytes })
    },
    // Two of one millisecond have names of their own
    fleet: { slots: { get: () => ({ incumbent: { pid: ++files } }) } },
    rotation: {
      take: async (/** @type {any} */ handle, /** @type {any} */ task) => {
        kernel.calls.push({ task: task.type, file: task.fields.file, refusal: await task.refusal() })
        return kernel.outcome
      },
      request: async (/** @type {number} */ slot, /** @type {any} */ task) => {
        kernel.calls.push({ slot, task: task.type, called: task.called, isThere: fs.existsSync(task.fields.file) })
        if (kernel.outcome.why !== null) throw new RecycleError('RECYCLE_NOT_DONE', { slot, what: task.called, why: kernel.outcome.why })
        return { ...kernel.outcome, handle: worker() }
      }
    }
  }
  Object.assign(kernel, { warnings: new Warnings(/** @type {any} */ (kernel.record)) })
  const part = new Heapdumps(/** @type {any} */ (kernel))
  return { kernel, folder, part, before: part.beforeRecycle, files: () => fs.readdirSync(folder) }
}

/** @param {Record<string, any>} [about] */
function worker ({ reason = 'rss', ...about } = {}) {
  return /** @type {any} */ ({ slot: 2, pid: 7, reason, condemnation: { row: REASONS.get(reason) }, budget: { metric: 'rss', hardBytes: 200 * MIB }, sample: { rssBytes: 100 * MIB }, ...about })
}

t.test('a worker that is condemned for its memory writes a snapshot before its recycle, once', async t => {
  const { kernel, folder, part, before, files } = primary(t)
  const handle = worker()
  t.equal(before.stateOf(handle), 'due')
  t.equal(before.stateOf(worker({ reason: 'age' })), null)
  const done = before.run(handle)
  t.equal(before.stateOf(handle), 'under way')
  await done
  t.equal(before.stateOf(handle), null)
  const [name] = files()
  t.match(name, /^slot-2-1-.*\.heapsnapshot$/)
  t.match(kernel.lines, [{ event: 'heapdump', slot: 2, pid: 7, reason: 'rss', file: path.join(folder, name), bytes: 5, moved: 2, pauseMs: 8 }])
  t.match(kernel.calls, [{ task: 'heapdump', file: path.join(folder, name), refusal: null }, 'changed'])
  t.match(part.describe(), { folder, perDay: 1, isDue: false, usedBytes: 5, latest: path.join(folder, name) })
})

t.test('at most so many in 24 hours', async t => {
  const { kernel, before } = primary(t, { heapdumpsPerDay: 2 })
  for (kernel.at of [0, 5]) await before.run(worker())
  t.equal(before.stateOf(worker()), null)
  kernel.at = DAY_MS
  t.equal(before.stateOf(worker()), 'due', 'the first one is a day old')
  await before.run(worker())
  t.equal(before.stateOf(worker()), null)
})

t.test('one that is not written leaves no file, is none of the quota, and is not tried again', async t => {
  const { kernel, before, files, part } = primary(t)
  const handle = worker()
  kernel.outcome = { why: 'another worker is out of rotation' }
  await before.run(handle)
  t.same(files(), [])
  t.same(kernel.lines, [])
  t.equal(before.stateOf(handle), null)
  t.equal(before.stateOf(worker()), 'due')
  t.equal(part.describe()?.latest, null)
})

t.test('a worker over its hard budget by then is recycled at once', async t => {
  const { kernel, before } = primary(t)
  kernel.rssBytes = 201 * MIB
  await before.run(worker())
  t.match(kernel.calls, [{ refusal: 'it is over its hard budget' }, 'changed'])
  kernel.calls.length = 0
  await before.run(worker({ budget: { metric: 'rss', hardBytes: null } }))
  t.match(kernel.calls, [{ refusal: null }, 'changed'])
})

t.test('without room nothing is begun, which is said once until one is written again', async t => {
  const { kernel, folder, before, part } = primary(t, { heapdumpsPerDay: 9, heapdumpLimitBytes: 100 * MIB + 20 })
  fs.writeFileSync(path.join(folder, 'old.heapsnapshot'), 'x'.repeat(21))
  for (let i = 0; i < 2; i++) await before.run(worker())
  t.same(kernel.calls, ['changed', 'changed'])
  const warning = { event: 'fleet.warning', warning: 'heapdump', slot: 2, pid: 7, folder, why: 'it would exceed the limit of the folder (--heapdump-limit)' }
  t.same(kernel.lines, [warning])
  t.equal(part.describe()?.usedBytes, 21)
  fs.rmSync(path.join(folder, 'old.heapsnapshot'))
  await before.run(worker())
  kernel.options.heapdumpLimitBytes = 0
  await before.run(worker())
  t.same(kernel.lines.map(({ event }) => event), ['fleet.warning', 'heapdump', 'fleet.warning'])
})

t.test('a folder that other users can write to by now is not written to', async t => {
  const { kernel, folder, before } = primary(t)
  fs.chmodSync(folder, 0o777)
  await before.run(worker())
  t.match(kernel.lines, [{ warning: 'heapdump', why: /other users may write to/ }])
})

t.test('without --on-condemn there is none before a recycle; by the command there is one at any time', async t => {
  const { kernel, folder, part, before } = primary(t, { heapdumpsPerDay: null })
  t.equal(before.stateOf(worker()), null)
  t.equal(part.describe(), null)
  const file = path.join(folder, 'asked')
  t.match(await part.commands.heapdump(2, { file }), { event: 'heapdump', slot: 2, reason: 'requested', file, bytes: 5 })
  t.match(kernel.calls, [{ slot: 2, task: 'heapdump', called: 'the heap snapshot', isThere: true }])
  t.match(await part.commands.heapdump(2, { file: `${file}-2`, then: 'recycle' }), { event: 'heapdump', recycled: { event: 'recycled', slot: 2 } })
  await t.rejects(part.commands.heapdump(2, { file }), { code: 'RECYCLE_UNWRITABLE' })
  t.ok(fs.existsSync(file), 'what was there stays')
})

t.test('a worker that has written its snapshot, and is not replaced then: the error has the file', async t => {
  const { kernel, folder, part } = primary(t, { heapdumpsPerDay: null })
  const failed = new RecycleError('RECYCLE_NOT_READY', { what: 'the replacement of slot 2', slot: 2, why: 'it exited' })
  kernel.commands.recycle = async () => { throw failed }
  const file = path.join(folder, 'asked')
  await t.rejects(part.commands.heapdump(2, { file, then: 'recycle' }),
    { code: 'RECYCLE_NOT_READY', message: failed.message, details: { slot: 2, written: file } })
  t.ok(fs.existsSync(file))
  t.notOk('written' in failed.details, 'others may wait for the same recycle')
})

t.test('a command that fails leaves no file', async t => {
  const { kernel, folder, part } = primary(t, { heapdumpsPerDay: null })
  kernel.outcome = { why: 'no other worker serves' }
  const file = path.join(folder, 'asked')
  await t.rejects(part.commands.heapdump(2, { file, then: 'recycle' }), { code: 'RECYCLE_NOT_DONE' })
  t.notOk(fs.existsSync(file))
})
