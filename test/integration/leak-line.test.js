'use strict'

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { startCli, startFleet, BIN } = require('../support/fleet')
const { INLINES_NOTHING, LOAD, allOrdinary, app, commandOf, nothingFailed } = require('../support/leak-study')
const { compareLeak } = require('../support/leaking-apps')
const { Load } = require('../support/load')

t.test('the function that leaks is named, under load; the worker is profiled meanwhile, and an ordinary one takes its place', async t => {
  const leaking = app(t, 'a Map by id')
  const { port, supervisor, events } = await startFleet(t, leaking.file, { workers: 2, interval: '500ms' })
  const load = new Load({ port, ...LOAD })
  const done = supervisor.leak(1, { forMs: 12_000 })
  const { slot, pid } = await events.until('leak.begin')
  t.equal(slot, 1)
  if (process.platform === 'linux') t.match(commandOf(pid), INLINES_NOTHING)
  t.match(supervisor.status().leakStudies, { study: { slot: 1, pid, by: 'requested', forMs: 12_000 }, latest: null })
  await t.rejects(supervisor.leak(0), { code: 'RECYCLE_NOT_DONE', message: 'the study of slot 0 was not done: slot 1 is under study' })
  const result = await done
  t.equal(compareLeak(result, leaking), 'right', JSON.stringify(result))
  t.match(result, { event: 'leak.end', slot: 1, pid, by: 'requested', why: null, verdict: 'grows', recycled: [{ cut: 0 }, { cut: 0, oldPid: pid }] })
  t.equal(events.all('leak.reading').length, 3)
  for (const { v, t: at, event, ...reading } of events.all('leak.reading')) {
    t.strictSame(Object.keys(reading).sort(), ['atMs', 'externalBytes', 'heapTotalBytes', 'heapUsedBytes', 'pauseMs', 'pid', 'requests', 'rssBytes', 'slot'])
  }
  t.same(events.lifeOf(pid).filter(event => !/rotation|reading|standby|recycled/.test(event)), ['worker.spawn', 'worker.ready', 'leak.begin', 'worker.condemn', 'worker.drain', 'worker.retire', 'leak.end'])
  allOrdinary(t, supervisor.status())
  t.match(supervisor.status().leakStudies.latest, { pid, verdict: 'grows' })
  await nothingFailed(t, load)

  await t.test('without requests it says that there are too few', async t => {
    t.match(await supervisor.leak(0, { forMs: 2000 }), { verdict: 'few', requests: 0 })
  })

  await t.test('with one worker there is no study', async t => {
    await supervisor.scale(1)
    const { length } = events.all('worker.condemn')
    await t.rejects(supervisor.leak(0), { code: 'RECYCLE_NOT_DONE', message: /no other worker serves/ })
    await t.rejects(supervisor.leak(0, { forMs: 5 }), { code: 'RECYCLE_BAD_OPTION' })
    await t.rejects(supervisor.leak(7), { code: 'RECYCLE_NO_SLOT' })
    t.equal(events.all('worker.condemn').length, length)
  })
})

t.test('forked workers: the one under study is spawned, and a forked one takes its place', { skip: loadAddon().missing ?? false }, async t => {
  const leaking = app(t, 'a module-level array')
  const control = path.join(leaking.folder, 'control')
  const { port, child, events } = await startCli(t, ['-w', '2', '--fork', 'mold', '--control', control, leaking.file])
  await events.until('worker.ready', { count: 2 })
  const load = new Load({ port, ...LOAD })
  const { stdout } = await promisify(execFile)(process.execPath, [BIN, 'leak', '0', '--for', '8s', '--json', '--control', control])
  const result = JSON.parse(stdout)
  t.equal(compareLeak(result, leaking), 'right', JSON.stringify(result))
  t.notSame(events.all('leak.begin'), [])
  const [{ pid }] = events.all('worker.ready').slice(-1)
  t.match(fs.readFileSync(`/proc/${pid}/status`, 'utf8'), /^PPid:\t(?!1$)\d+$/m)
  t.not(Number(/^PPid:\t(\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]), child.pid, 'its parent is the mold')
  await nothingFailed(t, load)
})
