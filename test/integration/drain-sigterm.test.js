'use strict'

const t = require('tap')
const { startTellingFleet, beginDrain, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

for (const handoff of [true, false]) {
  for (const way of ['plain', 'terminus', 'terminator', 'grace', 'flushes']) {
    t.test(`an app whose SIGTERM handler exits, or leaves nothing to be done (${way}), exits 0, ${handoff ? 'with' : 'without'} hand-off`, async t => {
      const fleet = await startTellingFleet(t, 'sigterm.js', { args: [way], handoff, killTimeout: '20s' })
      const client = await RawClient.connect(fleet.port)
      await client.fetch('/')
      const drain = await beginDrain(fleet)
      if (!handoff) await client.fetch('/')
      const line = await drain.recycled
      checkAccount(t, line)
      await fleet.told.until('pool closed', { where: ({ pid }) => pid === drain.pid })
      const { code, signal, t: retiredAt } = await fleet.events.until('worker.retire')
      t.equal(code, 0)
      t.equal(signal, null)
      const { t: drainedFrom } = await fleet.events.until('worker.drain')
      t.ok(retiredAt - drainedFrom - line.drainMs < 20_000, 'no SIGKILL was needed')
      t.equal(fleet.events.all('worker.crash').length, 0)
      await client.close()
    })
  }
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

for (const [way, fork] of /** @type {const} */ ([['default', 'spawn'], ['default', 'mold'], ['messages', 'spawn'], ['signal-exit', 'spawn']])) {
  t.test(`an app without a SIGTERM handler of its own (${way}, ${fork}) ends by process.exit(), its listeners for 'exit' are called; where a library heeds the signal it ends by that`, async t => {
    const fleet = await startTellingFleet(t, 'sigterm.js', { args: [way], fork })
    const { pid } = await fleet.events.until('worker.ready')
    await fleet.supervisor.recycle(0)
    const { code, signal } = await fleet.events.until('worker.retire', { where: line => line.pid === pid })
    t.same([code, signal], way === 'signal-exit' ? [null, 'SIGTERM'] : [0, null])
    if (way === 'default') await fleet.told.until('exits', { where: told => told.pid === pid })
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
