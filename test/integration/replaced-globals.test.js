'use strict'

const t = require('tap')
const { beginDrain, checkAccount, startTellingFleet } = require('../support/draining')
const { becomesTrue } = require('../support/processes')
const { RawClient } = require('../support/raw-client')

t.test('an app that replaces globals, and whose own listeners throw, is measured, drained and replaced like any other', async t => {
  const fleet = await startTellingFleet(t, 'replaces-globals.js', { drainTimeout: '5s' })
  const { port, supervisor, events, told } = fleet
  const client = await RawClient.connect(port)
  await client.fetch('/')
  t.ok(await becomesTrue(() => supervisor.status().workers[0].connections === 1), 'its heartbeats arrive')
  const { recycled } = await beginDrain(fleet)
  const line = await recycled
  checkAccount(t, line)
  t.equal(line.lost, false)
  t.equal(line.moved, 1)
  t.ok(line.drainMs < 5000, `it took ${line.drainMs} ms`)
  t.equal((await client.fetch('/requested')).status, 200)
  t.match(await events.until('worker.request'), { reason: null }, 'a reason that is not a string is dropped')
  await events.until('recycled', { count: 2 })
  await client.close()
  t.same(new Set(told.all('uncaught').map(({ error }) => error)), new Set(['a listener of the app\'s']), 'no code of recycle throws')
  t.same(events.all('worker.crash'), [])
})
