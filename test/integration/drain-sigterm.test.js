'use strict'

const t = require('tap')
const { startTellingFleet, beginDrain, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

/**
 * A worker for each way, one after the other in one fleet: each is the replacement of the one before.
 *
 * @param {any} t tap's
 * @param {string[]} ways
 * @param {Record<string, any>} options of supervise()
 * @param {(fleet: Awaited<ReturnType<typeof startTellingFleet>>, way: string) => Promise<void>} replace
 */
async function inTurn (t, ways, options, replace) {
  t.teardown(() => { delete process.env.WAY })
  process.env.WAY = ways[0]
  const fleet = await startTellingFleet(t, 'sigterm.js', options)
  for (const [i, way] of ways.entries()) {
    process.env.WAY = ways[i + 1] ?? 'default'
    await replace(fleet, way)
  }
}

for (const handoff of [true, false]) {
  t.test(`an app whose SIGTERM handler exits, or leaves nothing to be done, exits 0, ${handoff ? 'with' : 'without'} hand-off`, async t => {
    await inTurn(t, ['plain', 'terminus', 'terminator', 'grace', 'flushes'], { handoff, killTimeout: '20s' }, async (fleet, way) => {
      const client = await RawClient.connect(fleet.port)
      await client.fetch('/')
      const drain = await beginDrain(fleet)
      if (!handoff) await client.fetch('/')
      const line = await drain.recycled
      checkAccount(t, line)
      const where = (/** @type {Record<string, any>} */ { pid }) => pid === drain.pid
      await fleet.told.until('pool closed', { where })
      const { code, signal, t: retiredAt } = await fleet.events.until('worker.retire', { where })
      t.same([code, signal], [0, null], way)
      const { t: drainedFrom } = await fleet.events.until('worker.drain', { where })
      t.ok(retiredAt - drainedFrom - line.drainMs < 20_000, 'no SIGKILL was needed')
      t.equal(fleet.events.all('worker.crash').length, 0)
      await client.close()
    })
  })
}

for (const way of ['interrupt', 'message', 'message-too']) {
  t.test(`an app that listens for what pm2 sends, and not for SIGTERM (${way}), is told by that once, and waited for`, async t => {
    const fleet = await startTellingFleet(t, 'sigterm.js', { args: [way], killTimeout: '20s' })
    const client = await RawClient.connect(fleet.port)
    await client.fetch('/')
    const { pid, recycled } = await beginDrain(fleet)
    checkAccount(t, await recycled)
    await fleet.told.until('pool closed', { where: told => told.pid === pid })
    t.match(await fleet.events.until('worker.retire'), { code: 0, signal: null, killedFor: null })
    t.equal(fleet.told.all('pool closed').filter(told => told.pid === pid).length, 1)
    await client.close()
    await fleet.supervisor.stop()
    t.equal(fleet.told.all('pool closed').length, 2, 'at a stop as well')
  })
}

for (const [fork, ways] of /** @type {const} */ ([['spawn', ['default', 'messages', 'signal-exit']], ['mold', ['default']]])) {
  t.test(`an app without a SIGTERM handler of its own (${ways.join(', ')}; ${fork}) ends by process.exit(), its listeners for 'exit' are called; where a library heeds the signal it ends by that`, async t => {
    await inTurn(t, [...ways], { fork }, async ({ supervisor, events, told }, way) => {
      const [{ pid }] = supervisor.status().workers
      await supervisor.recycle(0)
      const { code, signal } = await events.until('worker.retire', { where: line => line.pid === pid })
      t.same([code, signal], way === 'signal-exit' ? [null, 'SIGTERM'] : [0, null], way)
      if (way === 'default') await told.until('exits', { where: told => told.pid === pid })
    })
  })
}

t.test('an app that swallows SIGTERM, and has a timer, is killed after the kill timeout, and not before', async t => {
  const killTimeoutMs = 600
  const fleet = await startTellingFleet(t, 'sigterm.js', { args: ['swallows'], killTimeout: `${killTimeoutMs}ms` })
  const { pid, recycled } = await beginDrain(fleet)
  await fleet.told.until('swallowed', { where: message => message.pid === pid })
  const line = await recycled
  t.match(line, { cut: 0, lost: false, ended: 'killed' })
  const { code, signal, killedFor, t: retiredAt } = await fleet.events.until('worker.retire')
  t.equal(code, null)
  t.equal(signal, 'SIGKILL')
  t.equal(killedFor, 'kill-timeout')
  const { t: drainedFrom } = await fleet.events.until('worker.drain')
  t.ok(retiredAt - drainedFrom - line.drainMs >= killTimeoutMs - 5, 'not before the timeout')
})
