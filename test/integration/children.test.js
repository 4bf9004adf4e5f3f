'use strict'

/** The processes that a worker has started end after it, whichever way it ends. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { startFleet } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue } = require('../support/processes')
const { kill } = require('../support/upgrade')

/** @param {any} t tap's @param {Record<string, any>} [options] */
async function startWithChildren (t, { workers = 2, ...options } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-children-')) // tap's own is gone before any teardown
  const pids = (/** @type {string} */ name) => {
    const file = path.join(folder, name)
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
  }
  const living = (/** @type {string} */ name) => pids(name).filter(pid => {
    try {
      return !/^State:\tZ/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))
    } catch {
      return false
    }
  })
  t.teardown(() => {
    for (const pid of ['heeds', 'ignores', 'daemons'].flatMap(living)) kill(pid, 'SIGKILL')
    fs.rmSync(folder, { recursive: true })
  })
  const fleet = await startFleet(t, 'starts-children.js', { args: [folder], workers, killTimeout: '400ms', replay: 'off', ...options })
  const has = (/** @type {string} */ name, /** @type {number} */ count) =>
    becomesTrue(() => living(name).length === count)
  t.ok(await has('heeds', workers) && await has('ignores', 2 * workers) && await has('daemons', workers), 'each worker has started four processes')
  return { ...fleet, living, has }
}

t.test('after a recycle, a crash and a SIGKILL of a worker, and after the stop, its children are ended; daemons are left, and named once', { skip: process.platform !== 'linux' }, async t => {
  const { port, supervisor, events, living, has } = await startWithChildren(t)
  const [{ pid }] = supervisor.status().workers

  await supervisor.recycle(0)
  const { killed, ...line } = await events.until('worker.children')
  t.match(line, { slot: 0, pid, ended: 3, commands: ['sleep 1000', 'sh -c'] })
  t.ok(killed >= 2, 'those that ignore SIGTERM')
  await t.resolves(has('heeds', 2))
  t.match(events.all('fleet.warning').filter(line => line.warning === 'children-left'), [{ slot: 0, pid, pids: [Number], commands: ['sleep 1001'] }])

  await get(port, '/exit')
  await events.until('worker.children', { count: 2 })
  await events.until('worker.ready', { count: 4 })
  process.kill(supervisor.status().workers[0].pid, 'SIGKILL')
  await events.until('worker.children', { count: 3 })
  await events.until('worker.ready', { count: 5 })
  t.ok(await has('heeds', 2) && await has('ignores', 4), 'those of the workers that serve live')

  await supervisor.stop()
  t.equal(events.all('worker.children').length, 5)
  t.same([living('heeds'), living('ignores')], [[], []])
  t.equal(living('daemons').length, 5)
  t.equal(events.all('fleet.warning').filter(({ warning }) => warning === 'children-left').length, 1)
})

t.test('with leaveChildren they stay', async t => {
  const { supervisor, events, living } = await startWithChildren(t, { leaveChildren: true })
  await supervisor.stop()
  t.same([living('heeds').length, living('ignores').length, events.all('worker.children')], [2, 4, []])
})

t.test('the children of a forked worker end after it, those of its mold after the mold', { skip: process.platform !== 'linux' }, async t => {
  const { port, supervisor, events, living, has } = await startWithChildren(t, { fork: 'mold', forkUnsafe: true, workers: 1 })
  await get(port, '/start')
  t.ok(await has('heeds', 2))
  const [{ pid }] = supervisor.status().workers
  await supervisor.recycle(0)
  t.match(await events.until('worker.children'), { slot: 0, pid, ended: 1 })
  await has('heeds', 1)
  await supervisor.stop()
  const { pid: mold } = await events.until('mold.spawn')
  t.match(events.all('worker.children')[1], { slot: null, pid: mold, ended: 3 })
  t.same([living('heeds'), living('ignores')], [[], []])
})
