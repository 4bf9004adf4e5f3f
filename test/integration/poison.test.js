'use strict'

/** An app in which one request ends its worker: what a client can do to the fleet. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startCli, FIXTURES } = require('../support/fleet')
const { backoffMs } = require('../../lib/core/backoff')
const { formatStatus } = require('../../lib/operate/control-table')

const MISBEHAVES = path.join(FIXTURES, 'misbehaves.js')

for (const [what, args] of /** @type {const} */ ([['spawned', []], ['forked', ['--fork', 'mold']]])) {
  t.test(`${what}: requests that end their workers, each as soon as it is ready, never end the fleet; the others are answered`, async t => {
    const { port, child, events, exited } = await startCli(t, ['-w', '2', '--stop-linger', '100ms', '--on-exception', 'exit', '--replay', 'off', '--admin', '0', ...args, MISBEHAVES])
    const { url } = await events.until('fleet.admin')
    await events.until('worker.ready', { count: 2 })
    for (let i = 0; i < 8; i++) t.ok([null, 502].includes((await get(port, ['/exit', '/throw'][i % 2])).status), 'it has ended its worker')
    t.match(await get(port, '/'), { status: 200, body: 'ok' })
    const about = async (/** @type {string} */ what) => (await get(Number(new URL(url).port), what)).body
    const { crashing } = JSON.parse(await about('/status'))
    t.match(crashing, { how: /^exit code [13]$/, requests: [{ request: /^GET \/(exit|throw)$/ }, { request: /^GET \/(exit|throw)$/ }] })
    t.match(await about('/readyz'), /; crashing: \d+ in \d+ s, the last by exit code/)
    t.match(formatStatus(JSON.parse(await about('/status'))), /^crashing: \d+ in \d+ s, the last by exit code \d with GET \/(exit|throw) in flight$/m)
    t.match(events.all('fleet.warning').find(({ warning }) => warning === 'crashing').msg, /^crashing: 3 in \d s, the last by exit code [13] with GET \/(exit|throw) in flight$/)
    for (const crash of events.all('worker.crash')) t.match(crash, { requestsInFlight: [{ request: /^GET \/(exit|throw)$/, count: 1 }], msg: / 1 in flight \(GET \/(exit|throw)\)/ })
    for (let i = 0; i < 3; i++) await get(port, '/kill?secret=1')
    const [first, ...later] = await events.until('worker.crash', { count: 11 }).then(() => events.all('worker.crash').slice(8))
    t.match(first, { signal: 'SIGKILL', requestsInFlight: [] }, 'nothing was known of it')
    for (const crash of later.slice(1)) t.match(crash, { signal: 'SIGKILL', requestsInFlight: [{ request: 'GET /kill', count: 1 }] })
    t.equal(events.all('worker.crash').filter(({ code }) => code !== null).length, 8)
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
