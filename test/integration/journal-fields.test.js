'use strict'

/** Every field that a real fleet writes into its journal is in the type of its event; test/docs has it on the page. */

const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { lineFields } = require('../support/line-fields')

const OF_EVERY_LINE = ['v', 't', 'event']

t.test('every field of every line that a busy fleet writes is in the type of its event', async t => {
  const { supervisor, events, port } = await startFleet(t, 'worker-api.js', { standby: 1, maxRss: '900MiB' })
  await events.until('worker.standby')
  await get(port, '/recycle')
  await events.until('recycled')
  await supervisor.recycle(0)
  await supervisor.gc(1)
  await supervisor.cpuprofile(1, { durationMs: 50, file: path.join(t.testdir(), 'a.cpuprofile') })
  await supervisor.scale(3)
  await supervisor.scale(2)
  await supervisor.reload()
  await supervisor.stop()

  const known = lineFields()
  const seen = new Set(events.lines.map(({ event }) => event))
  t.ok(seen.size >= 18, `${seen.size} kinds of events`)
  const missing = events.lines.flatMap(line => Object.keys(line).filter(field => !OF_EVERY_LINE.includes(field) && !known.get(line.event)?.includes(field)).map(field => `${line.event}: ${field}`))
  t.same([...new Set(missing)], [])
})
