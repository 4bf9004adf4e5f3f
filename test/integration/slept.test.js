'use strict'

/** A machine that slept: what was not measured while nothing ran condemns no worker, and one line says for how long. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')

t.test('a fleet that is stopped as a whole for some seconds, as by docker pause, keeps its workers', async t => {
  const journal = path.join(t.testdir({}), 'run.ndjson')
  const { child, events, exited } = await startCli(t, ['-w', '2', '-i', '200ms', '--samples', '2', '--max-lag', '700ms', '--stuck-timeout', '2s', '--health', '/', '--health-period', '200ms', '--health-timeout', '500ms', '--journal', journal, path.join(FIXTURES, 'plain.js')])
  await events.until('worker.ready', { count: 2 })
  const lagsSince = (/** @type {number} */ from) => fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1).map(text => JSON.parse(text))
    .filter(line => line.event === 'worker.sample' && line.t > from && typeof line.lagP99Ms === 'number')
  t.ok(await becomesTrue(() => lagsSince(0).length > 0))
  process.kill(-Number(child.pid), 'SIGSTOP')
  await new Promise(resolve => setTimeout(resolve, 5000))
  process.kill(-Number(child.pid), 'SIGCONT')
  const { sleptMs, time, msg } = await events.until('fleet.slept', { where: line => line.sleptMs > 3000 })
  t.ok(sleptMs < 10_000, `${sleptMs} ms`)
  t.match(msg, /^the supervisor did not run for \d\.\ds \(/)
  t.ok(await becomesTrue(() => lagsSince(time).length > 0), 'known again')
  t.same(events.all('worker.condemn'), [])
  t.same(events.all('worker.crash'), [])
  child.kill('SIGTERM')
  t.match(await exited, { code: 0 })
})
