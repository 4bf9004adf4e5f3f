'use strict'

/** Which addresses are in service after a deploy, and with an app that takes another port where its own answers. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { carryOut } = require('../../lib/operate/control-verbs')
const { get } = require('../support/client')
const { startFleet, freePort } = require('../support/fleet')
const { Load } = require('../support/load')

t.test('a reload changes where the app listens: the old address closes when all workers are replaced, and nothing fails on one that stays', async t => {
  const [kept, dropped, added] = [await freePort(), await freePort(), await freePort()]
  const file = process.env.PORTS = path.join(t.testdir(), 'ports')
  t.teardown(() => { delete process.env.PORTS })
  fs.writeFileSync(file, `${kept} ${dropped}`)
  const { supervisor, events } = await startFleet(t, 'listens-on.js')
  t.same(supervisor.status().uneven, [])
  const loads = [true, false].map(keepAlive => new Load({ port: kept, connections: 4, keepAlive }))
  fs.writeFileSync(file, `${kept} ${added}`)
  const asking = /** @type {any} */ ({ signal: new AbortController().signal })
  const reloading = carryOut('reload', supervisor, {}, () => {}, asking)
  await events.until('recycled')
  t.match(await get(dropped), { status: 200 }, 'a worker of old code is left')
  t.match(await reloading, { closed: [`http://127.0.0.1:${dropped}`] }, 'which the command says')
  for (const load of loads) t.same((await load.stop()).failures, [])
  for (const port of [kept, added]) t.match(await get(port), { status: 200 })
  t.match(await get(dropped), { status: null }, 'it is refused')
  t.match(events.all('fleet.address-closed'), [{ address: `127.0.0.1:${dropped}` }])
  t.same(events.all('worker.not-ready'), [])
  t.equal(events.all('fleet.warning').length, 1, 'one worker alone is waited for')
})

t.test('an app that takes another port where its own answers: that is said, and its own port stays in service', async t => {
  const { port, supervisor, events } = await startFleet(t, 'evades.js', { readyTimeout: '5s' })
  const about = { address: `127.0.0.1:${port}`, slots: [0] }
  t.match(await events.until('fleet.warning'), { warning: 'uneven-addresses', addresses: [about, { slots: [1] }] })
  t.match(supervisor.status().uneven[0], about)
  const [{ pid }] = supervisor.status().workers
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED' })
  t.match(events.all('worker.not-ready')[0], { slot: 0, why: `it was not ready within 5000 ms; it does not listen on 127.0.0.1:${port}, but on another port in its place` })
  t.equal(supervisor.status().workers[0].pid, pid)
  t.match(await get(port), { status: 200 })

  await supervisor.scale(1)
  process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { where: line => line.addresses.some((/** @type {string} */ key) => key.includes(`:${port}:`)), count: 2 })
  t.match(await get(port), { status: 200 }, 'where no worker is left there, the next one finds it free')
})
