'use strict'

/** What fails in the primary ends what must end, and no more. */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')
const { get, keepAsking } = require('../support/client')

const failures = (/** @type {import('../support/fleet').Events} */ events) => events.all('fleet.warning').filter(({ warning }) => warning === 'primary-failed')

t.test('an exception and a rejected promise in the primary are told, and the fleet goes on', async t => {
  const { port, child, events, exited } = await startCli(t, ['-w', '2', path.join(FIXTURES, 'plain.js')], { env: { NODE_OPTIONS: `--require ${path.join(FIXTURES, 'fails-in-primary.js')}` }, mayFail: true })
  await events.until('worker.ready', { count: 2 })
  const stop = keepAsking(port, '/')
  child.kill('SIGPROF')
  t.match(await events.until('fleet.warning', { where: ({ what }) => what === 'an event' }), { warning: 'primary-failed', why: /^a listener of the primary throws at .*fails-in-primary\.js/, stack: /fails-in-primary/ })
  t.match(await events.until('fleet.warning', { where: ({ what }) => what === 'a promise' }), { warning: 'primary-failed', why: /^a promise of the primary is rejected at / })
  child.kill('SIGPROF')
  child.kill('SIGHUP')
  await events.until('fleet.reloaded')
  t.same((await stop()).failures, [])
  t.equal(failures(events).length, 2, 'the same is not told again')
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('a step that fails is tried again, and a stop whose steps fail ends', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 2 }, { mayFail: true })
  const { parts: { sampler, recycler } } = supervisor
  const once = (/** @type {any} */ part, /** @type {string} */ name) => {
    part[name] = () => {
      delete part[name]
      throw new Error(`${name} fails`)
    }
  }
  once(sampler, 'look')
  t.match(await events.until('fleet.warning'), { warning: 'primary-failed', what: 'look', why: /^look fails at / })
  once(recycler, 'recycle')
  const recycled = supervisor.recycle(0)
  t.match(await events.until('fleet.warning', { count: 2 }), { what: 'recycle' })
  t.match(await recycled, { event: 'recycled', slot: 0 })
  t.match(await get(port), { status: 200 })
  once(supervisor.parts.shutdown, 'run')
  await supervisor.stop()
  t.equal(failures(events).length, 3)
})

t.test('a primary that fails before any worker has served ends, with one sentence', async t => {
  const preload = path.join(t.testdir({ 'fails.js': 'if (process.argv[1]?.endsWith("recycle.js")) require("node:cluster").on("fork", () => setImmediate(() => { throw new Error("too early") }))' }), 'fails.js')
  const { events, said, exited } = await startCli(t, ['-w', '1', path.join(FIXTURES, 'late.js')], { env: { NODE_OPTIONS: `--require ${preload}` }, mayFail: true })
  t.same(await exited, { code: 1, signal: null })
  t.match(events.all('fleet.failed'), [{ code: 'RECYCLE_PRIMARY_FAILED', error: /^recycle itself has failed \(an event\): too early at / }])
  t.same(said.filter(text => /^\s+at /.test(text)), [], 'no stack trace')
})

t.test('a primary that is out of descriptors at a worker\'s hello goes on without batches, and the worker stays', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 2 }, { mayFail: true })
  const before = fs.readFileSync('/proc/self/limits', 'latin1').match(/Max open files +(\d+)/)?.[1]
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${fs.readdirSync('/proc/self/fd').length + 100}:`])
  /** @type {number[]} */
  const taken = []
  supervisor.on('event', ({ event }) => {
    if (event !== 'worker.spawn') return
    try {
      for (;;) taken.push(fs.openSync('/dev/null', 'r'))
    } catch {} // there is none left
  })
  const giveBack = () => {
    for (const fd of taken.splice(0)) fs.closeSync(fd)
    execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${before}:`])
  }
  t.teardown(giveBack)
  const line = await supervisor.recycle(0)
  giveBack()
  t.match(failures(events), [{ what: "a worker's message hello", why: /^socketpair: Too many open files/ }])
  t.same(events.all('worker.protocol-error'), [])
  t.match(line, { slot: 0, lost: false, cut: 0 })
  t.match(await supervisor.recycle(1), { cut: 0 })
  t.match(await get(port), { status: 200 })
})
