'use strict'

/** What an app does in onDrain() is waited for, where it has no connections as well. */

const t = require('tap')
const { beginDrain, startTellingFleet } = require('../support/draining')

/** @param {any} t tap's @param {string} jobMs @param {Record<string, any>} [options] */
async function startConsumer (t, jobMs, options = {}) {
  process.env.JOB_MS = jobMs
  t.teardown(() => { delete process.env.JOB_MS })
  return startTellingFleet(t, 'consumer.js', { readyOn: 'online', killTimeout: '1s', ...options })
}

t.test('a worker without a port stays until the promise of onDrain() is settled', async t => {
  const fleet = await startConsumer(t, '700')
  const { pid, recycled } = await beginDrain(fleet)
  const line = await recycled
  t.match(fleet.told.all('done').filter(told => told.pid === pid), [{ pid }], 'its jobs have ended')
  t.ok(line.drainMs >= 650, `${line.drainMs} ms`)
  t.match(line, { lost: false, ended: 'retired', cut: 0 })
})

t.test('until the drain timeout at the most', async t => {
  const fleet = await startConsumer(t, 'never', { drainTimeout: '500ms' })
  const { recycled } = await beginDrain(fleet)
  const line = await recycled
  t.ok(line.drainMs >= 450, `${line.drainMs} ms`)
  t.match(line, { lost: false, ended: 'retired', cut: 0 })
})

t.test('a second stop does not wait any longer', async t => {
  const { supervisor, told, events } = await startConsumer(t, 'never', { drainTimeout: '60s' })
  const stopped = supervisor.stop()
  await told.until('drain')
  await supervisor.stop({ now: true })
  await stopped
  t.match(events.all('stopped'), [{ lost: false, cut: 0 }])
})
