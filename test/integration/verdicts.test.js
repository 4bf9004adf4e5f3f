'use strict'

/** The verdicts in the journals of real fleets: judged again from the lines alone, they are the same. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { readJournal } = require('../..')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { replay, decided } = require('../support/replay')

for (const [name, options, reasons] of /** @type {const} */ ([
  ['RSS', { maxRss: '96MiB', samples: 2, interval: '50ms' }, ['rss']],
  ['USS, one sample, hard at once', { workers: 1, maxRss: '70MiB', hardRss: '70MiB', metric: 'uss', samples: 3, interval: '50ms' }, ['hard-rss']],
  // 40 requests come long before the age, on a slow machine, too; the age is reached when no more requests come.
  ['requests and age', { workers: 1, maxRequests: 40, maxAge: '4s', interval: '50ms' }, ['requests', 'age']],
  ['RSS, with a standby', { workers: 1, maxRss: '96MiB', samples: 2, interval: '50ms', standby: 1 }, ['rss']]
])) {
  t.test(`the journal of a real fleet gives every decision again: ${name}`, async t => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-replay-'))
    t.teardown(() => fs.rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'journal.ndjson')
    const fixture = reasons.includes(/** @type {never} */ ('requests')) ? 'plain.js' : 'leaky.js'
    const { port, supervisor, events } = await startFleet(t, fixture, { ...options, journal: file })
    const load = new Load({ port, connections: 3, thinkMs: 80 })
    await events.until('recycled', { count: 2, where: line => line.reason === reasons[0] })
    const { failures } = await load.stop()
    t.same(failures, [])
    if (reasons.length > 1) await events.until('recycled', { count: 2, where: line => line.reason === 'age' })
    await supervisor.recycle(0).catch(error => { if (error.code !== 'RECYCLE_NOT_READY') throw error })
    await supervisor.reload()
    await supervisor.stop()

    const lines = []
    for await (const line of readJournal(file)) lines.push(line)
    t.same(lines.slice(-events.lines.length), JSON.parse(JSON.stringify(events.lines)), 'the file has every event')
    const made = decided(lines)
    t.strictSame(replay(lines), made)
    for (const reason of [...reasons, 'reload']) t.ok(made.some(d => d.reason === reason), reason)
    /** @param {number} pid @param {...string} events */
    const lineOf = (pid, ...events) => lines.findLast(line => line.pid === pid && events.includes(line.event))
    for (const { pid, t: at, ageMs } of lines.filter(l => l.event === 'worker.condemn')) {
      const up = lineOf(pid, 'worker.standby', 'worker.ready')
      const bootMs = up.t - lineOf(pid, 'worker.spawn').t
      const more = ageMs - (at - up.t)
      t.ok(more < bootMs && more > -1000, `the age is that at the reading, since it was up: ${more} ms more, of a boot of ${bootMs}`)
    }
  })
}
