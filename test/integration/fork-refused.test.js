'use strict'

/** What cannot be forked: it is said by name, in a sentence. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')
const { skip } = require('../support/mold')

const FORKS = path.join(FIXTURES, 'forks.js')

/** @param {any} t @param {Record<string, any>} [options] */
const startForked = (t, { app = 'forks.js', mode = '', ...options } = {}) => {
  process.env.MODE = mode
  return startFleet(t, app, { fork: 'mold', ...options })
}

/** @param {number} port */
const ask = async (port, url = '/') => JSON.parse((await get(port, url)).body)

for (const [mode, what] of [['file', /^no worker can be forked: before it listened the app opened the file .*forks\.js, which forked workers cannot share; open it in listen's callback or in onFork\(\), or give --fork-unsafe/], ['thread', /opened a pipe, a thread \(worker_threads or module hooks\)/], ['hooks', /a thread \(worker_threads or module hooks\)/], ['native-thread', /opened a thread of native code \(".+"\), which/]]) {
  t.test(`what workers cannot share is refused by name: a ${mode}`, { skip }, async t => {
    const { exited, events } = await startCli(t, ['--fork', 'mold', '-w', '2', FORKS], { env: { MODE: mode } })
    t.same(await exited, { code: 1, signal: null })
    t.match(events.all('fleet.failed')[0].error, what)
  })
}

t.test('an app that writes to the descriptor of its mold ends neither the primary nor another process: the fleet says so', { skip }, async t => {
  for (const text of ['hello', 'x'.repeat(70_000)]) { // others: test/features/fork/forked-process.test.js
    const { exited, events, said } = await startCli(t, ['--fork', 'mold', '-w', '2', FORKS], { env: { MODE: 'writes', WRITES: text } })
    t.same(await exited, { code: 1, signal: null }, text.slice(0, 20))
    t.match(events.all('fleet.failed'), [{ code: 'RECYCLE_FORK_REFUSED', error: /the app writes to the file descriptor by which its mold answers the primary \("/ }])
    t.same(said.filter(line => /^\s+at /.test(line)), [], 'no stack trace')
  }
})

t.test('new code that writes there is not taken: the old workers stay', { skip }, async t => {
  const app = path.join(t.testdir({ 'app.js': "require('node:http').createServer((request, response) => response.end('old')).listen(process.env.PORT)" }), 'app.js')
  const { port, supervisor, events } = await startFleet(t, app, { workers: 2, fork: 'mold' })
  fs.writeFileSync(app, `require('node:fs').writeSync(4, 'hello\\n');${fs.readFileSync(app)}`)
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED' })
  t.match(events.all('worker.not-ready')[0].why, /the app writes to the file descriptor/)
  t.match(await get(port), { status: 200, body: 'old' })
  await events.until('worker.sample', { where: ({ ageMs }) => ageMs > 1000 }) // a fleet that has not served yet would end
  const before = events.all('worker.ready').length
  for (const { pid } of supervisor.status().workers) process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { count: before + 2 })
  t.match(await get(port), { status: 200, body: 'old' }, 'workers that are replaced are copies of the old mold')
})

t.test('an app that ends while it loads, or never listens, ends the fleet with the reason', { skip }, async t => {
  for (const [mode, args, why] of [['exits', [], /its mold exited with code 5/], ['never-listens', ['--ready-timeout', '500ms'], /its mold did not listen within 500 ms/]]) {
    const { exited, events } = await startCli(t, ['--fork', 'mold', ...args, '-w', '5', FORKS], { env: { MODE: mode } })
    t.same(await exited, { code: 1, signal: null })
    t.match(events.all('fleet.failed')[0].error, why)
  }
})

t.test('an app that answers only once it listens cannot be asked before: the fleet says so, and serves without --warm', { skip }, async t => {
  const { exited, events } = await startCli(t, ['--fork', 'mold', '--warm', '5', '--ready-timeout', '10s', '-w', '2', FORKS], { env: { MODE: 'gets-ready-late' } })
  t.same(await exited, { code: 1, signal: null })
  t.match(events.all('fleet.failed'), [{ code: 'RECYCLE_FORK_REFUSED', error: /the app could not be warmed up within 10000 ms; one that gets ready in listen's callback .* takes --warm 0$/ }])
  const { port } = await startForked(t, { mode: 'gets-ready-late' })
  t.match(await ask(port), { warmed: 0 })
})

t.test('options that do not go together are refused in a sentence', { skip }, async t => {
  for (const [args, sentence] of [
    [['--fork', 'mold', '--standby', '1'], '--standby was given "1"; it takes 0 with --fork mold: a forked replacement is as fast'],
    [['--fork', 'mold', '--node-option', '--inspect'], 'it takes no --inspect with --fork mold'],
    [['--warm', '5'], '--warm was given "5"; it takes 0, unless --fork is mold'],
    [['--fork', 'clone'], '--fork was given "clone"; it takes one of spawn, mold']
  ]) {
    const { exited, said } = await startCli(t, [...args, FORKS])
    t.same(await exited, { code: 2, signal: null })
    t.match(said.join('\n'), sentence)
  }
})
