'use strict'

/** Fleets of which the workers are forked from a mold. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startCli, startFleet, sumOfEnds, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { skip } = require('../support/mold')

const FORKS = path.join(FIXTURES, 'forks.js')

/** @param {any} t @param {Record<string, any>} [options] */
const startForked = (t, { app = 'forks.js', mode = '', ...options } = {}) => {
  process.env.MODE = mode
  return startFleet(t, app, { fork: 'mold', ...options })
}

/** @param {number} port */
const ask = async (port, url = '/') => JSON.parse((await get(port, url)).body)

t.test('workers are copies of one mold, each with an identity of its own', { skip }, async t => {
  const { port, supervisor, events } = await startForked(t, { workers: 3, warm: 20 })
  const { pid: mold } = events.all('mold.ready')[0]
  const answers = []
  for (let i = 0; i < 30; i++) answers.push(await ask(port))
  const pids = supervisor.status().workers.map(({ pid }) => pid)
  t.equal(new Set(pids).size, 3)
  for (const answer of answers) {
    t.match(answer, { ppid: mold, loadedBy: mold, warmed: 20, heard: ['warm', `onFork ${answer.pid}`], store: '/' })
    t.equal(Number(answer.slot), pids.indexOf(answer.pid), 'its slot in its environment')
  }
  const drawn = answers.flatMap(({ random }) => random)
  t.equal(new Set(drawn).size, drawn.length, 'no random value comes twice')
  t.match(supervisor.status().workers, pids.map(pid => ({ pid, state: 'ready' })))
  t.same(events.all('worker.spawn').map(line => line.pid).sort(), pids.sort(), 'the journal knows each by its pid')
  t.equal(events.all('worker.spawn')[0].budget.metric, 'uss', 'what a worker shares is not counted')
  t.equal(events.all('fleet.start')[0].options.metric, 'uss')
  const { ussBytes, rssBytes } = await events.until('worker.sample', { where: line => line.ussBytes > 0 })
  t.ok(ussBytes < rssBytes / 2, `${ussBytes} of ${rssBytes} bytes are its own`)
  await supervisor.recycle(0)
  await new Promise(resolve => setTimeout(resolve, 60)) // the app's timer, which was pending at the fork
  const timers = new Map()
  for (let i = 0; i < 9; i++) {
    const { pid, timers: fired } = await ask(port)
    timers.set(pid, fired)
  }
  t.same([...new Set(timers.values())], [1], 'a pending timer fires once in each worker')
})

t.test('recycles, a reload and a scaling under load drop nothing (Pitchfork: test_reforking.rb)', { skip }, async t => {
  const { port, supervisor, events } = await startForked(t, { app: 'plain.js', workers: 3, maxRequests: 100, interval: '50ms' })
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 10, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  await events.until('recycled', { count: 6 })
  const [{ pid: first }] = events.all('mold.ready')
  await supervisor.reload()
  t.equal(events.all('mold.ready').length, 2, 'the reload has loaded the app anew')
  await supervisor.scale(5)
  await supervisor.scale(2)
  t.match(await events.until('mold.exit'), { pid: first, generation: 0, code: 0, signal: null }, 'the old mold ends with its last copy')
  for (const load of loads) {
    const { requests, failures } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
  }
  t.equal(loads[0].sockets, loads[0].clients.length, 'no client ever reconnected')
  for (const recycled of events.all('recycled')) {
    t.match(recycled, { how: 'surge', cut: 0, lost: false })
    t.equal(sumOfEnds(recycled), recycled.connections)
  }
  t.same(events.all('worker.crash'), [])
  await supervisor.stop()
  // A replacement may be booting when the fleet stops: one whose app has not been run is killed.
  t.same(events.all('worker.retire').filter(({ code, signal, killedFor }) => code !== 0 && signal !== 'SIGTERM' && killedFor !== 'unstarted'), [])
})

t.test('how a worker ends is reported as it was', { skip }, async t => {
  const { port, supervisor, events } = await startForked(t, { workers: 1, onException: 'exit', replay: 'off' })
  const ends = [['/exit', { code: 3, signal: null }], ['/crash', { code: 1, signal: null }], ['/abort', { signal: 'SIGABRT' }], [null, { signal: 'SIGKILL' }]]
  for (const [i, [url, how]] of ends.entries()) {
    const { pid, readyAt } = { ...supervisor.status().workers[0], readyAt: events.all('worker.ready').at(-1).t }
    // An early death is a failed boot
    await events.until('worker.sample', { where: line => line.pid === pid && line.t - readyAt > 1000 })
    if (url) get(port, url).catch(() => {}) // whether an answer comes before the end is left to chance
    else process.kill(pid, 'SIGKILL')
    t.match(await events.until('worker.crash', { count: i + 1 }), { pid, ...how })
    await events.until('worker.ready', { count: i + 2 })
  }
  t.equal(events.all('mold.spawn').length, 1, 'all of them by one mold')
})

t.test('a mold that dies leaves its workers in service; the next replacement has a new one', { skip }, async t => {
  const { port, supervisor, events } = await startForked(t, { workers: 2 })
  const [{ pid: mold }] = events.all('mold.ready')
  process.kill(mold, 'SIGKILL')
  t.match(await events.until('mold.exit'), { pid: mold, signal: 'SIGKILL', why: 'its mold was killed by SIGKILL' })
  t.match(await ask(port), { loadedBy: mold })
  t.match(await supervisor.recycle(0), { cut: 0, lost: false })
  t.match(await supervisor.recycle(1), { cut: 0, lost: false })
  const { loadedBy } = await ask(port)
  t.equal(loadedBy, events.all('mold.ready')[1].pid)
  t.same(events.all('worker.crash'), [])
})

t.test('a mold that hangs is ended when it has not forked in time; a worker that dies meanwhile is replaced by a copy of the next one', { skip }, async t => {
  const { port, supervisor, events } = await startForked(t, { workers: 2, readyTimeout: '3s', stuckTimeout: '1s', killTimeout: '300ms' })
  const [{ pid: mold }] = events.all('mold.ready')
  process.kill(mold, 'SIGSTOP')
  const [{ pid }] = supervisor.status().workers
  process.kill(Number(pid), 'SIGKILL')
  t.match(await events.until('mold.exit', { timeoutMs: 15_000 }), { pid: mold, signal: 'SIGKILL', why: 'its mold did not fork within 3000 ms' })
  await events.until('worker.ready', { count: 3 })
  t.same(events.all('mold.ready').map(({ pid }) => pid !== mold), [false, true])
  t.match(supervisor.status().totals, { workers: 2, ready: 2 })
  t.match(await supervisor.recycle(1), { cut: 0, lost: false })
  t.equal((await get(port)).status, 200)
})

t.test('a fleet whose mold hangs stops all the same', { skip }, async t => {
  const { supervisor, events } = await startForked(t, { workers: 2, killTimeout: '100ms' })
  const [{ pid: mold }] = events.all('mold.ready')
  process.kill(mold, 'SIGSTOP')
  await supervisor.stop()
  t.match(await events.until('mold.exit'), { pid: mold, signal: 'SIGKILL', why: 'its mold did not tell within 3000 ms that a process had ended' })
  t.equal(events.all('worker.retire').length, 2)
  for (const { cut, lost } of events.all('stopped')) t.same([cut, lost], [0, false])
})

t.test('three workers in a row that do not start: the fleet goes on by spawn, and says so; a reload forks again', { skip }, async t => {
  const { port, supervisor, events } = await startForked(t, { workers: 1, mode: 'throws' })
  t.match(events.all('fleet.warning'), [{ warning: 'fork-failed', why: '3 forked workers in a row did not start' }])
  t.equal(events.all('worker.crash').length, 3)
  t.match(await ask(port), { heard: [], ppid: process.pid })
  process.env.MODE = ''
  await supervisor.reload()
  t.match(await ask(port), { ppid: events.all('mold.ready').at(-1).pid })
})

t.test('a thread that has ended is none', { skip }, async t => {
  const { port } = await startForked(t, { mode: 'thread-ended', workers: 1 })
  t.match(await ask(port), { warmed: 0 })
})

t.test('--fork-unsafe forks all the same', { skip }, async t => {
  const { port } = await startForked(t, { mode: 'file', forkUnsafe: true, workers: 1 })
  t.match(await ask(port), { warmed: 0 })
})

t.test('a stop while the mold loads ends it', { skip }, async t => {
  const { child, exited, events } = await startCli(t, ['--fork', 'mold', FORKS], { env: { MODE: 'never-listens' } })
  const { pid } = await events.until('mold.spawn')
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.notOk(fs.existsSync(`/proc/${pid}`), 'the mold is gone')
})

t.test('a primary that is killed leaves neither molds nor workers behind', { skip }, async t => {
  const { port, child, events } = await startCli(t, ['--fork', 'mold', '-w', '2', '--kill-timeout', '100ms', FORKS], { env: { MODE: '' } })
  await events.until('worker.ready', { count: 2 })
  const pids = [...events.all('worker.ready'), ...events.all('mold.ready')].map(({ pid }) => pid)
  await ask(port)
  process.kill(child.pid, 'SIGKILL')
  // tap's timeout bounds it
  while (pids.some(pid => fs.existsSync(`/proc/${pid}`))) await new Promise(resolve => setTimeout(resolve, 20))
  t.pass('all of them are gone')
})
