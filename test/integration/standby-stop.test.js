'use strict'

const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { startCli, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { livingOfGroup } = require('../support/processes')

// The next standby boots as soon as the old worker has exited.
for (const [when, event, count] of /** @type {[string, string, number][]} */ ([
  ['a standby boots', 'worker.spawn', 3], ['a standby has just come', 'worker.standby', 1], ['a standby has just been called', 'worker.ready', 3],
  ['the old worker drains', 'worker.drain', 1], ['the old worker has exited', 'worker.retire', 1],
  ...extent({ short: [], long: [['the next standby boots', 'worker.spawn', 4]] })
])) {
  t.test(`SIGTERM under load when ${when}: only connections after the stop are refused, and no process is left`, async t => {
    // The linger is long: on a busy machine this process may pause, and would send its requests too late.
    const { port, child, events, exited } = await startCli(t, ['-w', '2', '--standby', '1', '--max-requests', '50', '-i', '50ms', '--stop-linger', '5s', path.join(FIXTURES, 'plain.js')])
    await events.until('worker.ready', { count: 2 })
    const loads = [true, false].map(keepAlive => new Load({ port, connections: 10, keepAlive }))
    t.teardown(() => Promise.all(loads.map(load => load.stop())))
    await events.until(event, { count })
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })
    for (const load of loads) {
      const { failures } = await load.stop()
      t.same(failures.filter(failure => failure.error !== 'ECONNREFUSED'), [])
    }
    for (const line of [...events.all('stopped'), ...events.all('recycled')]) t.equal(line.cut, 0)
    t.equal(events.lines.at(-1)?.event, 'fleet.stop')
    t.same(livingOfGroup(child.pid), [])
  })
}
