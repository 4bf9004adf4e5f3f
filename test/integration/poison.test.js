'use strict'

/** An app in which one request ends its worker: what a client can do to the fleet. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startCli, FIXTURES } = require('../support/fleet')
const { backoffMs } = require('../../lib/core/backoff')

const MISBEHAVES = path.join(FIXTURES, 'misbehaves.js')

for (const [what, args] of /** @type {const} */ ([['spawned', []], ['with a standby', ['--standby', '1']], ['forked', ['--fork', 'mold']]])) {
  t.test(`${what}: requests that end their workers, each as soon as it is ready, never end the fleet; the others are answered`, async t => {
    const { port, child, events, exited } = await startCli(t, ['-w', '2', '--stop-linger', '100ms', ...args, MISBEHAVES])
    await events.until('worker.ready', { count: 2 })
    for (let i = 0; i < 20; i++) t.match(await get(port, ['/exit', '/throw'][i % 2]), { status: null }, 'it has ended its worker')
    t.match(await get(port, '/'), { status: 200, body: 'ok' })
    t.equal(events.all('worker.crash').filter(({ code }) => code !== null).length, 20)
    t.same(events.all('fleet.failed'), [])
    t.same(events.all('fleet.warning').filter(({ warning }) => warning === 'fork-failed'), [], 'what ends a worker says nothing of forking')
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })
  })
}

t.test('a fleet that has served does not end where no worker starts any more: each slot is tried again within a second, and the queue waits', async t => {
  const dir = t.testdir({
    'app.js': `
      if (require('node:fs').existsSync(require('node:path').join(__dirname, 'down'))) process.exit(7)
      require('node:http').createServer((request, response) => response.end('ok')).listen(process.env.PORT)`
  })
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '--stop-linger', '100ms', path.join(dir, 'app.js')])
  await events.until('worker.ready', { count: 2 })
  t.match(await get(port), { status: 200 })
  fs.writeFileSync(path.join(dir, 'down'), '')
  for (const { pid } of events.all('worker.ready')) process.kill(pid, 'SIGKILL')
  const ofSlot0 = { where: (/** @type {any} */ { slot }) => slot === 0 }
  const fifth = await events.until('worker.crash', { count: 6, ...ofSlot0 }) // the first had served
  const waiting = get(port)
  const next = await events.until('worker.spawn', { count: 7, ...ofSlot0 })
  t.ok(next.time - fifth.time < backoffMs(5), `after five failures in a row it waits for ${next.time - fifth.time} ms`)
  fs.rmSync(path.join(dir, 'down'))
  t.match(await waiting, { status: 200, body: 'ok' })
  t.same(events.all('fleet.failed'), [])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})
