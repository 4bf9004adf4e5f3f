'use strict'

const t = require('tap')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { Load } = require('../support/load')
const { clientOf, pidOf } = require('../support/memory')
const { RawClient, head } = require('../support/raw-client')
const { isRelieved } = require('../../lib/core/collect-policy')

const OPTIONS = { onBudget: 'collect', maxRss: '128MiB', hardRss: '1GiB', jitter: '0' }

/** @param {import('../support/fleet').Events} events @param {number} pid @returns {string[]} its events */
function lifeOf (events, pid) {
  return events.lines.filter(line => (line.pid === pid || line.oldPid === pid) && line.event !== 'worker.sample').map(line => line.event)
}

/** Waits for the first sample of every worker, that of a fresh process. @param {any} supervisor @param {import('../support/fleet').Events} events */
async function allSampled (supervisor, events) {
  for (const { pid } of supervisor.status().workers) await events.until('worker.sample', { where: line => line.pid === pid })
}

t.test('garbage is collected out of rotation, and no worker is recycled', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { ...OPTIONS, workers: 3 })
  await allSampled(supervisor, events)
  const load = new Load({ port, connections: 12 })
  const client = await RawClient.connect(port)
  const pid = pidOf(await client.fetch('/garbage?mb=120'))
  const line = await events.until('collected')
  t.match(line, { pid, reason: 'rss', metric: 'rss', isEnough: true, softBytes: 128 * 1024 * 1024 })
  t.equal(line.bytes, line.rssAfter)
  await events.until('worker.in-rotation')
  t.strictSame(lifeOf(events, pid), ['worker.spawn', 'worker.ready', 'worker.condemn', 'worker.out-of-rotation', 'collected', 'worker.keep', 'worker.in-rotation'])
  t.match(events.all('worker.keep'), [{ pid, reason: 'rss' }])
  const samples = events.all('worker.sample').filter(line => line.pid === pid).length
  await events.until('worker.sample', { where: line => line.pid === pid, count: samples + 5 })
  await load.after(100)
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.equal(sockets, 12, 'no client ever reconnected')
  t.same(told.all('collection').filter(message => message.sockets > 0), [], 'no connection waited for the collection')
  t.equal((await client.fetch('/')).status, 200)
  await client.close()
  t.same(supervisor.status().workers.map((/** @type {any} */ { pid, state }) => [pid, state]).find(([id]) => id === pid), [pid, 'ready'])
  t.equal(events.all('worker.condemn').length, 1, 'the worker is judged again, and kept')
  t.equal(supervisor.status().totals.recycles, 0)
})

t.test('memory that the app keeps is not collected: the worker is recycled, and nothing is dropped', async t => {
  const { port, supervisor, events } = await startFleet(t, 'memory.js', OPTIONS)
  await allSampled(supervisor, events)
  const load = new Load({ port, connections: 8 })
  const client = await RawClient.connect(port)
  const pid = pidOf(await client.fetch('/keep?mb=120'))
  t.match(await events.until('collected'), { pid, isEnough: false })
  t.match(await events.until('recycled'), { oldPid: pid, reason: 'rss', cut: 0 })
  t.strictSame(lifeOf(events, pid), ['worker.spawn', 'worker.ready', 'worker.condemn', 'worker.out-of-rotation', 'collected', 'worker.in-rotation', 'worker.drain', 'worker.retire', 'recycled'])
  t.equal((await client.fetch('/')).status, 200)
  await client.close()
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.equal(sockets, 8)
  for (const line of events.all('collected')) t.equal(line.isEnough, isRelieved(line.bytes, line.softBytes), 'a replay of the journal reproduces the decision')
})

t.test('a worker that exceeds its budget again soon after is recycled', async t => {
  const { port, events } = await startFleet(t, 'memory.js', { ...OPTIONS, interval: '2s', samples: 1 })
  const first = await RawClient.connect(port)
  const pid = pidOf(await first.fetch('/garbage?mb=120'))
  await events.until('worker.keep', { where: line => line.pid === pid })
  await events.until('worker.in-rotation')
  const second = await clientOf(t, port, pid)
  await second.fetch('/garbage?mb=120')
  t.match(await events.until('recycled'), { oldPid: pid, reason: 'rss', cut: 0 })
  t.equal(events.all('collected').length, 1)
  t.equal(events.all('worker.out-of-rotation').length, 1)
  await first.close()
})

t.test('a worker that cannot leave rotation is recycled', async t => {
  const { port, events } = await startFleet(t, 'memory.js', OPTIONS)
  const raw = await RawClient.connect(port)
  raw.send(head('GET', '/', 'Connection: Upgrade', 'Upgrade: echo'))
  const pid = pidOf((await raw.received(1))[0])
  const client = await clientOf(t, port, pid)
  await client.fetch('/keep?mb=120')
  const line = await events.until('recycled')
  t.match(line, { oldPid: pid, reason: 'rss', cut: 0 })
  t.equal(sumOfEnds(line), line.connections)
  t.match(events.all('worker.in-rotation'), [{ pid, moved: 0, why: /upgraded or raw/ }])
  t.equal(events.all('collected').length, 0)
  await raw.ended()
  await raw.close()
})

t.test('a worker without a serving sibling is recycled', async t => {
  const { port, events } = await startFleet(t, 'memory.js', { ...OPTIONS, workers: 1 })
  const client = await RawClient.connect(port)
  await client.fetch('/garbage?mb=120')
  t.match(await events.until('recycled'), { reason: 'rss', cut: 0 })
  t.equal(events.all('worker.out-of-rotation').length, 0)
  await client.close()
})
