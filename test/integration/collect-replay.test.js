'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { readJournal } = require('../..')
const { isRelieved } = require('../../lib/features/gc/primary')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { RawClient } = require('../support/raw-client')
const { replay, decided } = require('../support/replay')

t.test('a replay of the journal reproduces every decision where workers collect first: after a collection the samples count from zero', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-replay-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'journal.ndjson')
  const { port, supervisor, events } = await startFleet(t, 'memory.js', {
    journal: file, interval: '50ms', maxRss: '128MiB', hardRss: '1GiB', onBudget: 'collect'
  })
  const load = new Load({ port, connections: 4, thinkMs: 20 })
  const client = await RawClient.connect(port)
  await client.fetch('/garbage?mb=120')
  const { pid } = await events.until('worker.keep')
  const samples = events.all('worker.sample').filter(line => line.pid === pid).length
  // The worker may collect again
  await events.until('worker.sample', { where: line => line.pid === pid, count: samples + 15 })
  await client.fetch('/keep?mb=120')
  await events.until('recycled')
  await client.close()
  await load.stop()
  await supervisor.stop()

  const lines = []
  for await (const line of readJournal(file)) lines.push(line)
  const made = decided(lines)
  t.strictSame(replay(lines), made)
  t.ok(made.length >= 2)
  for (const { isEnough, bytes, softBytes } of lines.filter(line => line.event === 'collected')) t.equal(isRelieved(bytes, softBytes), isEnough)
})
